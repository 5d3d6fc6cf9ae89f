import type { z } from 'zod'
import type { AgentNode } from '../../operations/runs/schemas.ts'

/** An agent's status for people: its end, that commands cannot reach it, or why it waits. */
export function agentStatus({ status, code, waiting, paused, unreached }: z.infer<typeof AgentNode>): string {
  if (code === 'CANCELLED') return 'cancelled'
  if (code !== null) return `${status}, ${code}`
  if (unreached) return `${status}, not reached`
  if (waiting.length > 0) return `${status}, waits: ${[...new Set(waiting.map((one) => one.for))].join(', ')}`
  return paused ? `${status}, paused` : status
}
