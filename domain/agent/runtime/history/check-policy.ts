import type { Stores } from '../../../stream/runtime/ports.ts'
import { agent } from '../../decide/aggregate.ts'
import { type OtherRules, type PolicyVerdict, verdictOn } from '../../rules/policy-check.ts'
import type { AgentState } from '../../state/state.ts'
import { history } from './history.ts'

/** A recorded call that other rules would have treated differently. */
interface CheckedCall extends PolicyVerdict {
  readonly agentId: string
  readonly turn: number
  readonly toolCallId: string
  readonly toolName: string
  /** The record: whether a person was asked, and the call's end (`ok`, an error code, or null without an end). */
  readonly recorded: { readonly asked: boolean; readonly end: string | null }
}

export interface PolicyCheck {
  readonly calls: number
  readonly found: readonly CheckedCall[]
  readonly tools: readonly string[]
}

/** Checks every recorded call of an agent against other rules. Performs and records nothing. */
export async function checkPolicy(stores: Stores, agentId: string, other: OtherRules): Promise<PolicyCheck> {
  const found = new Map<string, CheckedCall>()
  let state: AgentState | null = null
  let calls = 0
  for await (const page of history(stores, agentId)) {
    for (const { event } of page) {
      const id = event.toolCallId ?? ''
      if (event.type === 'tool_call_start' && state !== null) {
        calls += 1
        const { toolName } = event.body
        const verdict = verdictOn(state, event.body, other)
        const about = { agentId, turn: event.turn, toolCallId: id, toolName }
        if (verdict !== null) found.set(id, { ...about, ...verdict, recorded: { asked: false, end: null } })
      }
      const one = found.get(id)
      if (one !== undefined && event.type === 'approval_requested')
        found.set(id, { ...one, recorded: { ...one.recorded, asked: true } })
      if (one !== undefined && event.type === 'tool_call_end')
        found.set(id, { ...one, recorded: { ...one.recorded, end: event.body.error?.code ?? 'ok' } })
      state = agent.evolve(state, event)
    }
  }
  const tools = state?.spec.tools.map(({ name }) => name) ?? []
  return { calls, found: [...found.values()], tools }
}
