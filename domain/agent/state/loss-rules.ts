import type { Call } from '../../calls/call.ts'
import { SHOWN_BYTES } from '../../calls/result-text.ts'
import { type AppendRoot, EMPTY_ROOT } from '../../log/root.ts'
import type { EventOf } from '../events/events.ts'
import type { LostCall } from '../events/loss.ts'
import type { LossToSettle, LostCallState } from './loss.ts'
import { type AgentState, activityOf, callsOf, isFinished, withActivity } from './state.ts'

/** Null if nothing is left to settle. Null is the initial value, which the digest omits. */
const orNull = (loss: LossToSettle): LossToSettle | null =>
  loss.calls.length === 0 && !loss.unlisted && loss.unsent.count === 0 ? null : loss

const NO_LOSS: LossToSettle = { calls: [], unlisted: false, since: 0, unsent: EMPTY_ROOT }

/** Stages in which the open turn settles the call itself: it is in doubt, becomes so by the loss, or has ended. */
const SETTLED_THERE: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>([
  'running',
  'resolved',
  'doubt',
  'ended',
])

/**
 * Stages of calls that began in the remaining part. If such a call is listed, its outcome or second attempt was lost.
 */
const BEGUN: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>(['running', 'resolved'])

const irreversible = ({ calls }: EventOf<'loss_accepted'>['body']) =>
  calls.filter(({ effect }) => effect === 'irreversible')

/** The state after an accepted loss. A person may decide calls of a finished agent too. */
export function lossAccepted(state: AgentState, { body, revision }: EventOf<'loss_accepted'>): AgentState {
  const loss = state.loss ?? NO_LOSS
  const listed = irreversible(body)
  const known = new Set(callsOf(state).flatMap(({ id, stage }) => (SETTLED_THERE.has(stage.at) ? [id] : [])))
  const calls = listed
    .filter((call) => !known.has(call.toolCallId) && !loss.calls.some((lost) => isSameCall(lost, call)))
    .map(({ toolCallId: id, toolName, argumentsHash }) => ({ id, toolName, argumentsHash, decided: null }))
  const unlisted = body.unlisted === true || loss.unlisted
  const after = orNull({ ...loss, calls: [...loss.calls, ...calls], unlisted, since: revision })
  const next = inDoubt({ ...state, loss: after }, new Set(listed.map(({ toolCallId }) => toolCallId)), revision)
  return isFinished(state) ? withUndecided(next) : next
}

/** Puts listed calls that began in the remaining part in doubt: their outcome or second attempt was lost. */
function inDoubt(state: AgentState, listed: ReadonlySet<string>, since: number): AgentState {
  const activity = activityOf(state.machine)
  if (activity?.status !== 'TOOL_WAIT') return state
  const calls = activity.calls.map((call) =>
    listed.has(call.id) && BEGUN.has(call.stage.at) ? { ...call, since, stage: { at: 'doubt' } as const } : call,
  )
  return { ...state, machine: withActivity(state.machine, { status: 'TOOL_WAIT', calls }) }
}

/** For a finished agent: undecided lost calls become unresolved calls. */
export function withUndecided(state: AgentState): AgentState {
  const ids = undecided(state).map(({ id }) => id)
  return ids.length === 0 ? state : { ...state, unresolved: [...new Set([...state.unresolved, ...ids])] }
}

/** The state after a person's decision on a lost call. A call that did not happen is removed and may run. */
export function lostCallDecided(
  state: AgentState,
  { toolCallId, body, bodyHash, size }: EventOf<'lost_call_decided'>,
  append: AppendRoot,
): AgentState {
  const { loss, context } = state
  if (loss === null) return state
  const unresolved = state.unresolved.filter((id) => id !== toolCallId)
  const { decision } = body
  const calls = loss.calls.flatMap((call) => {
    if (call.id !== toolCallId || call.decided !== null) return [call]
    return decision === 'run' ? [] : [{ ...call, decided: decision }]
  })
  if (decision !== 'happened') return { ...state, unresolved, loss: orNull({ ...loss, calls }) }
  return {
    ...state,
    unresolved,
    loss: { ...loss, calls, unsent: append(loss.unsent, bodyHash) },
    context: { ...context, bytes: context.bytes + Math.min(size, SHOWN_BYTES) },
  }
}

/** A turn starts: the lost calls that happened join the messages. */
export function addLostCalls(state: AgentState, append: AppendRoot): AgentState {
  const { loss, messages } = state
  if (loss === null || loss.unsent.count === 0) return state
  const next = append(messages, loss.unsent.hash, loss.unsent.count)
  return { ...state, messages: next, loss: orNull({ ...loss, unsent: EMPTY_ROOT }) }
}

/** A fork keeps only the decisions that are not yet among its messages. */
export const lossOfFork = ({ loss }: AgentState): LossToSettle | null =>
  loss === null ? null : orNull({ ...NO_LOSS, unsent: loss.unsent })

export const lossReleased = (state: AgentState): AgentState =>
  state.loss === null ? state : { ...state, loss: orNull({ ...state.loss, unlisted: false }) }

/** Lost calls without a person's decision. The agent starts nothing before they are decided. */
export const undecided = ({ loss }: AgentState): readonly LostCallState[] =>
  loss === null ? [] : loss.calls.filter(({ decided }) => decided === null)

/** The listed calls that no earlier decision settles. After another loss, the tables list decided calls again. */
export const withoutDecided = ({ loss }: AgentState, listed: readonly LostCall[]): LostCall[] =>
  listed.filter((call) => !loss?.calls.some((lost) => lost.decided !== null && isSameCall(lost, call)))

/** The decided lost call that this call repeats. */
export const repeatedOf = ({ loss }: AgentState, call: Pick<Call, 'toolName' | 'argumentsHash'>) =>
  loss?.calls.find((lost) => lost.decided !== null && isSame(lost, call))

/** The loss after a call has ended. A decided lost call settles only one repeated call. */
export function lossAfterCall(state: AgentState, call: Call, { body }: EventOf<'tool_call_end'>): LossToSettle | null {
  const answered = repeatedOf(state, call)
  if (state.loss === null || answered === undefined || !isSettledBy(answered, call, body)) return state.loss
  return orNull({ ...state.loss, calls: state.loss.calls.filter((lost) => lost !== answered) })
}

/** Whether the decision ended the call. Such a call was neither refused nor run; see `heldByLoss`. */
function isSettledBy({ decided }: LostCallState, call: Call, { success, error }: EventOf<'tool_call_end'>['body']) {
  const { stage } = call
  const waits =
    stage.at === 'planned' || stage.at === 'approved' || (stage.at === 'resolved' && stage.decision === 'run')
  if (call.refused !== null || !waits) return false
  return decided === 'happened' ? success : error?.code === 'UNKNOWN_OUTCOME'
}

const isSame = (a: Pick<Call, 'toolName' | 'argumentsHash'>, b: Pick<Call, 'toolName' | 'argumentsHash'>): boolean =>
  a.toolName === b.toolName && a.argumentsHash === b.argumentsHash

/** The id alone is not enough: after a loss the model may ask for a different call under the same id. */
const isSameCall = (lost: LostCallState, call: LostCall): boolean => lost.id === call.toolCallId && isSame(lost, call)
