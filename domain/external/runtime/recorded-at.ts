import { CommandRejected } from '../../calls/errors.ts'
import type { RecordedEvent } from '../../log/envelope.ts'
import { externalStream } from '../../log/ids.ts'
import type { At } from '../../stream/point.ts'
import { checkDigest } from '../../stream/runtime/check-digest.ts'
import { history } from '../../stream/runtime/history.ts'
import type { Stores } from '../../stream/runtime/ports.ts'
import { external } from '../aggregate.ts'
import type { ExternalEvent } from '../events.ts'
import type { Outcome } from '../outcome.ts'
import type { ExternalState } from '../state.ts'

/** The record of an external run, folded up to an event. `outcome`: null before the end, or after its erasure. */
export interface RecordedAt {
  readonly state: ExternalState
  readonly outcome: Outcome | null
  readonly last: RecordedEvent
}

/**
 * Folds an external run's events up to an event and compares the recorded digests. Performs no effects. Rejects with
 * `RUN_UNKNOWN`, and with the errors of {@link checkDigest}. Rejects with `POINT_UNKNOWN` for a missing revision, and
 * for steps and turns, because external runs have none.
 */
export async function recordedAt(stores: Stores, agentId: string, at: At): Promise<RecordedAt> {
  if (at !== null && !('revision' in at))
    throw new CommandRejected(
      'POINT_UNKNOWN',
      `${agentId} is a run of another agent, which has no steps and turns; name an event by its revision`,
    )
  const to = at?.revision ?? Number.POSITIVE_INFINITY
  let state: ExternalState | null = null
  let outcome: Outcome | null = null
  let last: RecordedEvent | null = null
  for await (const page of history<ExternalEvent>(stores, external, externalStream(agentId), { to }))
    for (const { event, recorded } of page) {
      state = external.evolve(state, event)
      checkDigest(external, state, recorded)
      last = recorded
      if ((event.type === 'external_ended' || event.type === 'outcome_learned') && recorded.erased !== true)
        outcome = event.body
    }
  if (state === null || last === null) throw new CommandRejected('RUN_UNKNOWN', `there is no run ${agentId}`)
  const { revision } = last.header
  if (at !== null && revision < at.revision)
    throw new CommandRejected('POINT_UNKNOWN', `${agentId} has no revision ${at.revision}; its last is ${revision}`)
  return { state, outcome, last }
}
