import { hash } from 'node:crypto'
import type { z } from 'zod'
import type { LostCall } from '../../../domain/agent/events/loss.ts'
import type { LogLoss } from '../../../domain/log/loss/loss.ts'
import type * as schemas from './schemas.ts'

/** A stream that was unreadable when a loss was accepted, with its last remaining event and the error code. */
export type Unreadable = NonNullable<LogLoss['unreadable']>[number]

/** A stream that ends before the last revision in the tables. */
export type LostStream = Omit<z.infer<typeof schemas.LostStreamView>, 'calls'> & { readonly calls: readonly LostCall[] }

/** The loss of the log according to its mark, its tables and its signed heads. The id is stable across checks. */
export type Loss = Omit<z.infer<typeof schemas.LossView>, 'streams' | 'message'> & {
  readonly streams: readonly LostStream[]
}

/** The end of the log in the mark or the tables. */
export type Seen = NonNullable<Loss['mark']>

/**
 * The id of a loss. Accepting a part of the loss removes streams, so an end that the mark, the tables or the heads have
 * seen determines the id alone.
 */
export function lossId({
  mark,
  tables,
  heads,
  streams,
  gaps,
}: Pick<Loss, 'mark' | 'tables' | 'heads' | 'streams' | 'gaps'>): string {
  const seen = streams.map(({ stream, hash: at }) => [stream, at])
  const named = mark !== null || tables !== null ? [mark, tables] : heads !== undefined ? [heads] : [seen, gaps]
  return hash('sha256', JSON.stringify(named)).slice(0, 32)
}

/** The description of a loss, in one sentence. */
export function lossText({ end, mark, tables, heads, streams, gaps }: Loss): string {
  const seen = [
    ...(mark === null ? [] : [{ witness: 'its mark has', ...mark }]),
    ...(tables === null ? [] : [{ witness: 'the tables have', ...tables }]),
    ...(heads === undefined ? [] : [{ witness: 'its signed heads have', ...heads }]),
  ]
  const beyond = seen.filter(({ position }) => position > end)
  if (beyond.length > 0) {
    const told = beyond.map(({ witness, position }) => `${witness} seen position ${position}`)
    return `the log has lost its end: it ends at position ${end}, but ${told.join(', and ')}`
  }
  if (seen.length > 0) {
    const told = seen.map(
      ({ witness, position }) => `at position ${position} it holds another event than ${witness} seen`,
    )
    return `the log has lost events: ${told.join(', and ')}`
  }
  const [stream] = streams
  if (stream?.unreadable !== undefined)
    return `${stream.stream} could not be read (${stream.unreadable}) when a loss of the log was accepted, and records none`
  if (stream !== undefined)
    return `the log has lost events: ${stream.stream} ends at revision ${stream.kept}, but the tables have seen revision ${stream.revision}`
  const [gap] = gaps
  return `the log has lost events: there is none at positions ${gap?.from} to ${gap?.to}`
}
