import type { EventOf } from '../events/events.ts'
import type { AgentState, Call } from './state.ts'

/** An irreversible call that began in the lost part of the log. `decided` null: a person has yet to say what became of it. */
export interface LostCallState {
  readonly id: string
  readonly toolName: string
  readonly argumentsHash: string
  readonly decided: 'happened' | 'abandon' | null
}

/** What an accepted loss leaves to be settled. `unlisted`: any irreversible call may have happened in the lost part. */
export interface Loss {
  readonly calls: readonly LostCallState[]
  readonly unlisted: boolean
}

/** Nothing is left to be settled: the member has its initial value again, which no digest shows. */
const orNull = (loss: Loss): Loss | null => (loss.calls.length === 0 && !loss.unlisted ? null : loss)

/** Calls that are at work, in doubt or over in what is left of the log are settled there. */
const SETTLED_THERE: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>(['running', 'doubt', 'ended'])

/** The state of an unfinished agent after a loss was accepted. `open`: the calls of its turn. */
export function lossAccepted(state: AgentState, { body }: EventOf<'loss_accepted'>, open: readonly Call[]): AgentState {
  const before = state.loss?.calls ?? []
  const known = new Set([
    ...before.map(({ id }) => id),
    ...open.filter(({ stage }) => SETTLED_THERE.has(stage.at)).map(({ id }) => id),
  ])
  const calls = body.calls
    .filter(({ toolCallId, effect }) => effect === 'irreversible' && !known.has(toolCallId))
    .map(({ toolCallId: id, toolName, argumentsHash }) => ({ id, toolName, argumentsHash, decided: null }))
  const unlisted = body.unlisted === true || state.loss?.unlisted === true
  return { ...state, loss: orNull({ calls: [...before, ...calls], unlisted }) }
}

/** A finished agent: a person may still say what became of the calls. */
export function lossAfterEnd(state: AgentState, { body }: EventOf<'loss_accepted'>): AgentState {
  const ids = body.calls.filter(({ effect }) => effect === 'irreversible').map(({ toolCallId }) => toolCallId)
  return { ...state, unresolved: [...new Set([...state.unresolved, ...ids])] }
}

/** The state after a person's word on a lost call. One that did not happen is forgotten: it may run. */
export function lostCallDecided(state: AgentState, { toolCallId, body }: EventOf<'lost_call_decided'>): AgentState {
  const { loss } = state
  if (loss === null) return state
  const { decision } = body
  const calls = loss.calls.flatMap((call) => {
    if (call.id !== toolCallId) return [call]
    return decision === 'run' ? [] : [{ ...call, decided: decision }]
  })
  return { ...state, loss: orNull({ ...loss, calls }) }
}

export const lossReleased = (state: AgentState): AgentState =>
  state.loss === null ? state : { ...state, loss: orNull({ ...state.loss, unlisted: false }) }

/** Calls of the lost part of which a person has yet to say what became of them: the agent begins nothing before. */
export const undecided = ({ loss }: AgentState): readonly LostCallState[] =>
  loss === null ? [] : loss.calls.filter(({ decided }) => decided === null)

/** The decided call of the lost part that this one repeats. */
export const repeatedOf = ({ loss }: AgentState, call: Pick<Call, 'toolName' | 'argumentsHash'>) =>
  loss?.calls.find((lost) => lost.decided !== null && isSame(lost, call))

/** The loss after a call has ended: a decided one answers one call. */
export function lossAfterCall(state: AgentState, call: Pick<Call, 'toolName' | 'argumentsHash'>): Loss | null {
  const answered = repeatedOf(state, call)
  if (state.loss === null || answered === undefined) return state.loss
  return orNull({ ...state.loss, calls: state.loss.calls.filter((lost) => lost !== answered) })
}

const isSame = (a: Pick<Call, 'toolName' | 'argumentsHash'>, b: Pick<Call, 'toolName' | 'argumentsHash'>): boolean =>
  a.toolName === b.toolName && a.argumentsHash === b.argumentsHash
