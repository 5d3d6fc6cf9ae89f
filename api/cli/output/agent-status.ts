import type { z } from 'zod'
import type { AgentNode } from '../../operations/runs/schemas.ts'

/** An agent's status for people: its end, that commands cannot reach it, or why it waits. */
export function agentStatus(agent: z.infer<typeof AgentNode>): string {
  const { status, code, waiting, paused, unreached, unmetGates } = agent
  const gates = unmetGates.length === 0 ? '' : `, unmet gates: ${unmetGates.join(', ')}`
  if (code === 'CANCELLED') return 'cancelled'
  if (code !== null) return `${status}, ${code}${gates}`
  if (status === 'completed') return `${status}${gates}`
  if (unreached) return `${status}, not reached`
  if (waiting.length > 0) return `${status}, waits: ${[...new Set(waiting.map((one) => one.for))].join(', ')}`
  return paused ? `${status}, paused` : status
}
