import { z } from 'zod'
import { Decided } from '../../../domain/calls/decided.ts'
import { TRACE_STEPS } from '../../../domain/calls/trace.ts'
import { Actor } from '../../../domain/log/envelope.ts'
import { BlameFileQuery } from '../files/schemas.ts'
import { Digits, Id } from '../schemas.ts'

const EVENT = /^(.+)@(\d{1,15})$/

/** An event as `<stream>@<revision>`. */
const EventName = z
  .string()
  .max(400)
  .regex(EVENT, 'expected a stream and a revision, such as agent-a1@0')
  .transform((text) => {
    const [, stream = '', revision] = EVENT.exec(text) ?? []
    return { stream, revision: Number(revision) }
  })

/** Rules about several members apply only to valid members. */
const whenValid = ({ issues }: { readonly issues: readonly unknown[] }): boolean => issues.length === 0

export const TraceQuery = z
  .strictObject({
    call: Id.optional().meta({ description: 'A call, as the events of its run name it' }),
    event: EventName.optional().meta({ type: 'string', description: 'An event, as stream@revision' }),
    file: BlameFileQuery.shape.path.optional().meta({ description: "A file, relative to the run's working folder" }),
    line: Digits.pipe(z.int().min(1)).optional().meta({ type: 'integer', description: 'A line of the file, from 1' }),
    run: Id.optional().meta({ description: 'The run that has the file' }),
    agent: Id.optional().meta({ description: 'An agent of the run; absent: its root' }),
    step: Digits.optional().meta({ type: 'integer', description: 'The file as it is at this step; absent: now' }),
    limit: Digits.pipe(z.int().min(0).max(500))
      .prefault('20')
      .meta({ type: 'integer', description: 'At most so many of the texts that the model had read' }),
    untrusted: z.literal('true').optional().meta({ description: 'Only untrusted texts' }),
  })
  .refine(({ call, event, file }) => [call, event, file].filter((one) => one !== undefined).length === 1, {
    error: 'name one of call, event and file',
    when: whenValid,
  })
  .refine(({ file, line, run }) => file === undefined || (line !== undefined && run !== undefined), {
    error: 'a file needs its line and its run',
    when: whenValid,
  })
  .refine(({ file, line, run, agent, step }) => file !== undefined || !(line ?? run ?? agent ?? step), {
    error: 'line, run, agent and step go with a file only',
    when: whenValid,
  })

const place = { runId: z.string().optional(), stream: z.string(), revision: z.int(), at: z.string() }

const Step = z
  .strictObject({
    kind: z.enum(TRACE_STEPS),
    ...place,
    actor: Actor,
    text: z.string().meta({ description: 'A sentence of keepup' }),
    quote: z.string().optional().meta({ description: 'The beginning of a text of a person, a model or a tool' }),
    toolCallId: z.string().optional(),
    decided: Decided.optional().meta({ description: 'How the call was allowed, with the hash of what was shown' }),
    erased: z.literal(true).optional(),
  })
  .meta({ id: 'TraceStep', description: 'A step on the way from a line, a call or an event back to a person' })

const ReadText = z
  .strictObject({
    ...place,
    turn: z.int(),
    source: z.string().meta({ description: 'person, model, web, mcp, agent, document, memory, workspace …' }),
    untrusted: z.boolean(),
    from: z.string().meta({ description: 'The tool, person or agent that it is from' }),
    toolCallId: z.string().optional(),
    size: z.int().meta({ description: 'In bytes' }),
    head: z.string().meta({ description: 'Its beginning' }),
    erased: z.literal(true).optional(),
  })
  .meta({ id: 'ReadText', description: 'A text that the model had read' })

export const Trace = z
  .strictObject({
    steps: z.array(Step).readonly().meta({ description: 'From the value to the person, each with its event' }),
    person: Actor.nullable().meta({ description: 'The person that the chain ends with' }),
    missing: z.string().nullable().meta({ description: 'Why the chain ends before a person' }),
    others: z.array(z.string()).readonly().meta({ description: 'Other calls that may have written the line' }),
    texts: z
      .strictObject({
        total: z.int(),
        untrusted: z.int(),
        more: z.int().meta({ description: 'Texts that match and are not listed' }),
        newest: z.array(ReadText).readonly().meta({ description: 'The newest ones, the last one first' }),
      })
      .meta({ description: 'What the model had read when it asked for the first call of the chain' }),
  })
  .meta({ id: 'Trace' })
export type Trace = z.infer<typeof Trace>
