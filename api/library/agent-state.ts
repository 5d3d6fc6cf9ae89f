import type { AgentAt } from '../../domain/agent/runtime/types.ts'
import type { Message } from '../../domain/calls/content.ts'
import type { Json } from '../../domain/log/json.ts'
import { pointOf } from '../operations/history/point.ts'

/** Seed 003, 3.1. `cost` in dollars. */
export interface AgentState {
  id: string
  role: string
  parentId?: string
  status: 'active' | 'recovering' | 'completed' | 'failed'
  sopPhase: string
  history: Message[]
  contextVariables: Record<string, Json>
  usage: { inputTokens: number; outputTokens: number; cost: number }
}

const STATUS: Readonly<Record<string, AgentState['status']>> = {
  DONE: 'completed',
  ERROR: 'failed',
  RECOVERY: 'recovering',
}

/** An agent at a point, in the form of seed 003. `role` is empty if the agent has none. */
export function agentStateOf(at: AgentAt): AgentState {
  const { usage } = pointOf(at)
  const { agentId, parent, spec, phase, machine } = at.state
  return {
    id: agentId,
    role: spec.role?.name ?? '',
    ...(parent === null ? {} : { parentId: parent.agentId }),
    status: STATUS[machine.status] ?? 'active',
    sopPhase: phase,
    history: [...at.messages],
    contextVariables: { ...at.facts.contextVariables },
    usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, cost: usage.cost },
  }
}
