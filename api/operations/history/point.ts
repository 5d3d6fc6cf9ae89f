import type { z } from 'zod'
import type { AgentAt, AgentBrief } from '../../../domain/agent/runtime/types.ts'
import type { At } from '../../../domain/stream/point.ts'
import { permissionsOf } from '../permissions/permissions-of.ts'
import type { AgentAtPoint, AgentBriefAtPoint } from './checkpoint-schemas.ts'

export type AgentPoint = z.infer<typeof AgentAtPoint>

/** The point of a history that a request names; null: the head. */
export function atOf(q: { step?: number | undefined; turn?: number | undefined; event?: number | undefined }): At {
  if (q.step !== undefined) return { step: q.step }
  if (q.turn !== undefined) return { turn: q.turn }
  return q.event === undefined ? null : { revision: q.event }
}

/** An agent at a point without its messages, in the form of the API. */
export function briefPointOf({ writers, ...at }: AgentBrief): z.infer<typeof AgentBriefAtPoint> {
  const { state, ...point } = pointOf({ ...at, messages: [] })
  const { messages: _, ...rest } = state
  return { ...point, state: rest, writers: { ...writers } }
}

/** An agent at a point in the form of the API: a checkpoint's members, and the agent's status. */
export function pointOf({ state: s, head, messages, facts }: AgentAt): AgentPoint {
  const { contextVariables, ...calls } = facts
  const [own, before] = [s.spent, s.inherited]
  const nanoDollars = own.nanoDollars + before.nanoDollars
  const input = (spent: typeof own) => spent.input + spent.cacheRead + spent.cacheWrite
  return {
    id: `${s.agentId}.s${s.step}`,
    threadId: s.agentId,
    runId: s.runId,
    agentId: s.agentId,
    step: s.step,
    turn: s.turn,
    revision: head.revision,
    hash: head.hash,
    timestamp: new Date(head.timestamp).toISOString(),
    machineState: s.machine.status,
    paused: s.paused,
    error: s.machine.status === 'ERROR' ? { code: s.machine.code, message: s.machine.error } : null,
    state: { messages, sopPhase: s.phase, contextVariables },
    ...calls,
    documents: s.documents,
    usage: {
      inputTokens: input(own) + input(before),
      outputTokens: own.output + before.output,
      cost: nanoDollars / 1e9,
      nanoDollars,
    },
    gatesPassed: s.gatesPassed,
    permissions: permissionsOf(s),
    tasks: [...(s.tasks?.tasks ?? [])],
    tree: s.tree,
    spec: s.spec,
  }
}
