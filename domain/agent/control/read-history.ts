import { z } from 'zod'
import { UNTRUSTED } from '../../calls/untrusted.ts'
import { controlTool } from './control-tool.ts'
import { READ_BYTES } from './read-result.ts'

const turn = z.int().positive()

const schema = z.strictObject({
  fromTurn: turn.describe('The first turn to read.'),
  toTurn: turn.optional().describe('The last turn to read. Default: the last one before this turn'),
  from: z.int().nonnegative().default(0).describe('First byte of their text to read, counted from 0. Default: 0'),
  length: z
    .int()
    .min(4)
    .max(READ_BYTES)
    .default(READ_BYTES)
    .describe(`How many bytes to read. Default, and at most: ${READ_BYTES}`),
})

/** Shows turns that compression has hidden (seed 000, 5.11.3). The hidden messages are in the log. */
export const readHistory = controlTool({
  name: 'read_history',
  description: 'Reads earlier turns of this conversation word for word, also those that are hidden to make room.',
  schema,
  kind: 'continues',
  needsTools: true,
  refusal: (state, { fromTurn, toTurn }) => {
    if (toTurn !== undefined && toTurn < fromTurn) return 'toTurn: it is before fromTurn'
    return fromTurn >= state.turn ? `fromTurn: the turns before this one are 1 to ${state.turn - 1}` : null
  },
  examine: (state, _, { fromTurn, toTurn = state.turn - 1, from, length }) => ({
    turns: { fromTurn, toTurn: Math.min(toTurn, state.turn - 1), from, length },
  }),
  // Text from the web stays untrusted when it is read again.
  decide: (_, __, ___, { text }) => ({
    events: [],
    end: text?.includes(UNTRUSTED)
      ? { content: { notice: UNTRUSTED, text }, detail: { untrusted: 'web' } }
      : { content: text ?? '' },
  }),
})
