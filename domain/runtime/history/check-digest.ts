import { digestOf, FOLD } from '../../agent/state/digest.ts'
import type { AgentState } from '../../agent/state/state.ts'
import type { RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'

/**
 * Holds a folded state against the digest that was recorded after its event, where this fold made it. Throws
 * `FOLD_DIFFERS`, naming the first event where the two part: nothing may be decided on a state that is not the recorded one.
 */
export function checkDigest(state: AgentState, { header }: RecordedEvent): void {
  if (header.digest === undefined || header.digest.fold !== FOLD || digestOf(state) === header.digest.value) return
  const at = `${header.stream}@${header.revision} (${header.type})`
  throw new LogError(
    'FOLD_DIFFERS',
    `the state folded here differs from the recorded one, first at ${at}; the log was changed, or this program folds it otherwise`,
  )
}
