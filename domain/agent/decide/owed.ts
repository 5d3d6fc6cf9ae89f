import { type OwedTool, owedTool } from '../../calls/owed.ts'
import { effectId, modelCallId } from '../../log/ids.ts'
import { type AgentState, activityOf, callsOf, isFinished, recoveryOf } from '../state/state.ts'

/** An effect whose intent is recorded, or an instant at which a driver must look at the agent. */
export type Owed =
  /** `turn` 0: a summary. */
  | { readonly kind: 'model'; readonly id: string; readonly attempt: number; readonly turn: number }
  | OwedTool
  /** A version of the files after the calls up to this step. */
  | { readonly kind: 'version'; readonly id: string; readonly step: number }
  | {
      readonly kind: 'wake'
      readonly at: number
      readonly reason: 'backoff' | 'approval' | 'reply' | 'cancel' | 'grace'
    }

/**
 * The effects that the driver of this state must perform. The driver aborts a running effect that is no longer in the
 * list. Empty for a finished agent.
 */
export function owed(state: AgentState): readonly Owed[] {
  if (isFinished(state)) return []
  const epoch = state.driver?.epoch
  const list: Owed[] = []
  const activity = activityOf(state.machine)
  if (activity?.status === 'THINKING' && state.cancel === null) {
    const { model } = activity
    if (model.at === 'calling' && model.epoch === epoch) {
      const id = effectId(modelCallId(state.agentId, state.turn), model.attempt)
      list.push({ kind: 'model', id, attempt: model.attempt, turn: state.turn })
    }
    if (model.at === 'backoff') list.push({ kind: 'wake', at: model.until, reason: 'backoff' })
  }
  const { summarizing } = state.compression
  if (summarizing !== null && summarizing.epoch === epoch && state.cancel === null) {
    const { attempt } = summarizing
    list.push({ kind: 'model', id: effectId(modelCallId(state.agentId, 0), attempt), attempt, turn: 0 })
  }
  let atWork = false
  for (const call of callsOf(state)) {
    const { stage } = call
    const tool = owedTool(call, epoch)
    if (tool !== null) {
      atWork = true
      if (state.cancel !== null) continue
      list.push(tool)
    }
    if (stage.at === 'child') atWork = true
    if (stage.at === 'reply') list.push({ kind: 'wake', at: stage.until, reason: 'reply' })
    if (stage.at === 'approval') list.push({ kind: 'wake', at: stage.expiresAt, reason: 'approval' })
  }
  if (state.unversioned !== null) {
    // A call that ends while a version is taken needs another version, so the id contains the version's first step.
    const id = effectId(`${state.agentId}.s${state.unversioned.from}.version`, 1)
    list.push({ kind: 'version', id, step: state.unversioned.to })
    atWork = true
  }
  if (state.cancel !== null && atWork) list.push({ kind: 'wake', at: state.cancel.deadlineAt, reason: 'cancel' })
  const recovery = recoveryOf(state.machine)
  if (recovery !== null && state.clock.running) {
    const at = state.clock.countedTo + (recovery.deadlineAt - state.clock.workedMs)
    list.push({ kind: 'wake', at, reason: 'grace' })
  }
  return list
}
