import { z } from 'zod'
import { count } from '../../log/body-parts.ts'

// A model request shows the transcript in segments. These shapes are the storage format (see events.ts).

/** Ordinals of messages, counted from 0; `to` is exclusive. */
const range = { from: count, to: count }

/** The turns of a range, both ends inclusive. */
export const TurnRange = z.strictObject({ from: count, to: count })
export type TurnRange = z.infer<typeof TurnRange>

export const CutSegment = z.strictObject({ kind: z.literal('cut'), ...range, bytes: z.int().positive() })
export type CutSegment = z.infer<typeof CutSegment>

/**
 * How a request shows a range of messages. `keep`: unchanged. `prune`: without the content of tool results. `cut`: with
 * tool results truncated to head and tail of at most `bytes` UTF-8 bytes. `hide`: not at all. `summary`: replaced by
 * the summary in the event at `revision`.
 */
export const Segment = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('keep'), ...range }),
  z.strictObject({ kind: z.literal('prune'), ...range }),
  CutSegment,
  z.strictObject({ kind: z.literal('hide'), ...range, turns: TurnRange }),
  z.strictObject({ kind: z.literal('summary'), ...range, turns: TurnRange, revision: count }),
])
export type Segment = z.infer<typeof Segment>
