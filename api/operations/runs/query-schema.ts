import { z } from 'zod'
import { Tag } from '../annotation/schemas.ts'
import { MOMENT, Moment } from '../moment-schema.ts'
import { Id, PageQuery } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'
import { RunStatus } from './schemas.ts'

/** Dollars with at most nine decimal places, as nano-dollars. */
const Dollars = z
  .string()
  .regex(/^\d{1,6}(?:\.\d{1,9})?$/, { error: 'expected dollars, such as 1 or 0.25' })
  .transform((text) => Math.round(Number(text) * 1e9))

const Text = z.string().min(1).max(200).refine(isPlain, PLAIN)

/** Words of `keepup runs list --status` that are no status of a run, and what to ask for instead. */
const NOT_STORED: ReadonlyMap<unknown, string> = new Map([
  ['cancelled', 'a cancelled run is failed; ask for error=CANCELLED'],
  [
    'interrupted',
    'an interrupted run is active or recovering; ask for this status, and look at "interrupted" of each run',
  ],
])

/** Filters of a list of runs. A run must match all given filters. */
export const RunQuery = PageQuery.extend({
  status: z
    .enum(RunStatus.options, { error: ({ input }) => NOT_STORED.get(input) })
    .optional()
    .meta({ description: 'How the run stands; ask for a cancelled one with error=CANCELLED' }),
  error: Text.optional().meta({ description: 'The code it ended with, such as CANCELLED' }),
  role: Text.optional(),
  model: Text.optional().meta({ description: 'The model that it asks for' }),
  over: Dollars.optional().meta({ type: 'string', description: 'It has cost more than so many dollars' }),
  waiting: z
    .enum(['people', 'input', 'approval', 'doubt', 'pause', 'model'])
    .transform((what) => (what === 'people' ? (['approval', 'doubt', 'input'] as const) : [what]))
    .optional()
    .meta({ type: 'string', description: 'It waits for this; people: for an approval, a decision or an input' }),
  file: z.string().min(1).max(4096).refine(isPlain, PLAIN).optional().meta({
    description: 'A file that one of its file tools read or wrote: a path in its workspace, or an absolute one',
  }),
  person: Text.optional().meta({ description: 'Who started it, decided an approval of it, or gave it input' }),
  since: Moment.optional().meta({ type: 'string', description: `Started then or later: ${MOMENT}` }),
  until: Moment.optional().meta({ type: 'string', description: 'Started before then' }),
  tag: Tag.optional().meta({ description: 'It has this tag' }),
  text: Text.optional().meta({
    description:
      'It occurs in the task, the result, a note, a tag, the name of a called tool, a path that a call names or ' +
      'changes, the message of a failed call, or a text that GET /v1/search finds; the case of A to Z does not matter. ' +
      'A page looks through 2000 runs or about 32 MiB of texts: it may be empty and have a next one.',
  }),
  prefix: Id.optional().meta({ description: 'Only runs whose id begins so' }),
})
