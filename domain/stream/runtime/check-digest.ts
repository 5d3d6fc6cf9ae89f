import type { RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import type { Aggregate, StreamEvent } from '../aggregate.ts'

/** The message for a digest that only a newer fold can compute. */
export const newerFold = (fold: number, known: number): string =>
  `the state was recorded by a newer fold (${fold}, this keepup knows ${known}); use the one that wrote it`

type Digesting<State, Event extends StreamEvent, Command> = Pick<
  Aggregate<State, Event, Command>,
  'fold' | 'digest' | 'earlierDigest'
>

/** The digest of a state under a fold; null: this program cannot compute digests of that fold. */
export function digestUnder<State, Event extends StreamEvent, Command>(
  aggregate: Digesting<State, Event, Command>,
  fold: number,
  state: State,
): string | null {
  return fold === aggregate.fold ? aggregate.digest(state) : (aggregate.earlierDigest?.(fold, state) ?? null)
}

/**
 * Compares a folded state with the digest recorded after its event. Skips digests of older folds that
 * this program cannot compute. Throws `FOLD_DIFFERS`, which names the first event that differs, and `LOG_NEWER` for a
 * newer fold: decisions may use only the recorded state.
 */
export function checkDigest<State, Event extends StreamEvent, Command>(
  aggregate: Digesting<State, Event, Command>,
  state: State,
  { header }: RecordedEvent,
): void {
  const { digest } = header
  if (digest === undefined) return
  const at = `${header.stream}@${header.revision} (${header.type})`
  if (digest.fold > aggregate.fold) throw new LogError('LOG_NEWER', `${at}: ${newerFold(digest.fold, aggregate.fold)}`)
  const folded = digestUnder(aggregate, digest.fold, state)
  if (folded === null || folded === digest.value) return
  throw new LogError(
    'FOLD_DIFFERS',
    `the state folded here differs from the recorded one, first at ${at}; the log was changed, or this program folds it otherwise`,
  )
}
