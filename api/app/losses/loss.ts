import { hash } from 'node:crypto'
import type { LostCall } from '../../../domain/agent/events/loss.ts'
import type { LogLoss } from '../../../domain/log/loss.ts'

/** Where a witness saw the log end. */
export interface Seen {
  readonly position: number
  readonly hash: string
}

/** A stream that could not be read when a loss was accepted, with the last event that was left and the code of the error. */
export type Unreadable = NonNullable<LogLoss['unreadable']>[number]

/** A stream that holds less than the tables have seen of it. */
export interface LostStream {
  readonly stream: string
  readonly runId: string
  /** Its last event as the tables saw it. */
  readonly revision: number
  readonly hash: string
  /** Its last event in the log; -1: the stream has vanished. */
  readonly kept: number
  /** Calls that the tables saw beginning, and that no event in the log ends. */
  readonly calls: readonly LostCall[]
  /** Other calls than these may have begun in the lost part. */
  readonly unlisted: boolean
  /** What the model calls of the lost part cost, nano-dollars. */
  readonly nanoDollars: number
  /** It could not be read when a loss was accepted, and so records none: the code of that error. */
  readonly unreadable?: string
}

/** What the log has lost, by what its mark and the tables have seen. */
export interface Loss {
  /** The same for the same witnesses, however often it is looked for. */
  readonly id: string
  /** Position of the log's last event. */
  readonly end: number
  /** Null: the log holds what this witness has seen. */
  readonly mark: Seen | null
  readonly tables: Seen | null
  readonly streams: readonly LostStream[]
  /** No mark proves that the tables had seen all that was lost, so any unfinished run may be shortened. */
  readonly unlisted: boolean
  /** Positions without an event although later ones are there. */
  readonly gaps: readonly { readonly from: number; readonly to: number }[]
}

/** Of a loss that is accepted in part the streams are fewer: where a witness saw the end, it alone gives the name. */
export function lossId({ mark, tables, streams, gaps }: Pick<Loss, 'mark' | 'tables' | 'streams' | 'gaps'>): string {
  const seen = streams.map(({ stream, hash: at }) => [stream, at])
  const named = mark !== null || tables !== null ? [mark, tables] : [seen, gaps]
  return hash('sha256', JSON.stringify(named)).slice(0, 32)
}

/** What is said of a loss, in one sentence. */
export function lossText({ end, mark, tables, streams, gaps }: Loss): string {
  const seen = [
    ...(mark === null ? [] : [{ witness: 'its mark has', ...mark }]),
    ...(tables === null ? [] : [{ witness: 'the tables have', ...tables }]),
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
