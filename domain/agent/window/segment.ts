import { z } from 'zod'
import { count } from '../events/event-parts.ts'

// A model request shows the transcript in segments. These shapes are the storage format too (see events.ts).

/** Ordinals of messages, counted from 0; `to` is exclusive. */
const range = { from: count, to: count }

/** The turns that a range belongs to, both ends included. */
export const TurnRange = z.strictObject({ from: count, to: count })
export type TurnRange = z.infer<typeof TurnRange>

export const CutSegment = z.strictObject({ kind: z.literal('cut'), ...range, bytes: z.int().positive() })
export type CutSegment = z.infer<typeof CutSegment>

/**
 * How a request shows a range of messages: as they are; without the content of tool results; with tool results cut to head
 * and tail of at most `bytes` UTF-8 bytes; not at all; or replaced by the summary that the event at `revision` holds.
 */
export const Segment = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('keep'), ...range }),
  z.strictObject({ kind: z.literal('prune'), ...range }),
  CutSegment,
  z.strictObject({ kind: z.literal('hide'), ...range, turns: TurnRange }),
  z.strictObject({ kind: z.literal('summary'), ...range, turns: TurnRange, revision: count }),
])
export type Segment = z.infer<typeof Segment>
