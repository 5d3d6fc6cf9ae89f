import type { RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import type { Aggregate, StreamEvent } from '../aggregate.ts'

/** The text for a digest that this program cannot compute. */
export const newerFold = (fold: number, known: number): string =>
  `the state was recorded by a newer fold (${fold}, this keepup knows ${known}); use the one that wrote it`

/**
 * Holds a folded state against the digest that was recorded after its event, where this fold made it; one of before goes on
 * from its history. Throws `FOLD_DIFFERS`, naming the first event where the two part, and `LOG_NEWER`: nothing may be
 * decided on a state that is not the recorded one.
 */
export function checkDigest<State, Event extends StreamEvent, Command>(
  { fold, digest: digestOf }: Pick<Aggregate<State, Event, Command>, 'fold' | 'digest'>,
  state: State,
  { header }: RecordedEvent,
): void {
  const { digest } = header
  if (digest === undefined || digest.fold < fold) return
  const at = `${header.stream}@${header.revision} (${header.type})`
  if (digest.fold > fold) throw new LogError('LOG_NEWER', `${at}: ${newerFold(digest.fold, fold)}`)
  if (digestOf(state) === digest.value) return
  throw new LogError(
    'FOLD_DIFFERS',
    `the state folded here differs from the recorded one, first at ${at}; the log was changed, or this program folds it otherwise`,
  )
}
