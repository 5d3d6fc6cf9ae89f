import { z } from 'zod'
import type { Ended } from './drive-end.ts'

const run = { runId: z.string() }
const piece = { ...run, agentId: z.string(), turn: z.int(), text: z.string() }

const End = z.discriminatedUnion('end', [
  z.strictObject({ end: z.literal('done') }),
  z.strictObject({ end: z.literal('error'), code: z.string(), error: z.string() }),
  z.strictObject({
    end: z.literal('waiting'),
    for: z.enum(['input', 'approval', 'doubt', 'pause']),
    toolCallIds: z.array(z.string()).readonly().meta({ description: 'Calls of the run that wait for a person' }),
    agentId: z.string().exactOptional().meta({ description: 'The waiting agent; absent: the root' }),
  }),
  z.strictObject({ end: z.literal('interrupted') }),
  z.strictObject({ end: z.literal('overtaken'), epoch: z.int() }),
  z.strictObject({ end: z.literal('fault'), code: z.string(), message: z.string() }),
]) satisfies z.ZodType<Ended>

/** The messages of the live stream of a run, by kind. None is stored. */
export const RUN_NEWS = {
  text: z.strictObject({ kind: z.literal('text'), ...piece }),
  output: z.strictObject({
    kind: z.literal('output'),
    ...piece,
    toolCallId: z.string(),
    soFar: z.literal(true).exactOptional().meta({
      description:
        'The end of what a call of the present turn had written when the reader came, at most 20,000 characters; it replaces earlier pieces of the call',
    }),
  }),
  drive: z.strictObject({
    kind: z.literal('drive'),
    ...run,
    driving: z.boolean(),
    end: End.nullable(),
    revision: z
      .int()
      .exactOptional()
      .meta({ description: 'The revision of the last event of the run. Sent with an end, if the log is readable' }),
  }),
  /** The reader was too slow. */
  dropped: z.strictObject({
    kind: z.literal('dropped'),
    ...run,
    pieces: z.int().meta({ description: 'How many pieces the reader missed' }),
  }),
} as const

/** Ephemeral news of a run: streamed text of a model, output of a tool, and the start or end of a drive. */
export type RunNews = z.infer<(typeof RUN_NEWS)[keyof typeof RUN_NEWS]>
