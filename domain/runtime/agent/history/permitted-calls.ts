import type { BodyOf } from '../../../agent/events/events.ts'
import type { Actor } from '../../../log/envelope.ts'
import type { Stores } from '../../stream/ports.ts'
import { history } from './history.ts'

/** A call that the policy refuses, and the permission that let it through. */
export interface PermittedCall {
  readonly toolCallId: string
  readonly toolName: string
  /** The call that had asked for the permission. */
  readonly permission: string
  /** What was granted, and by whom; null: erased. */
  readonly granted: (Omit<BodyOf<'permission_granted'>, 'phase'> & { readonly by: string | null }) | null
}

/** The calls of a turn that ran by a person's permission (CONTRACTS 3), in their order. */
export async function permittedCalls(stores: Stores, agentId: string, turn: number): Promise<PermittedCall[]> {
  const grants = new Map<string, NonNullable<PermittedCall['granted']>>()
  const deciders = new Map<string, Actor>()
  const found: PermittedCall[] = []
  for await (const page of history(stores, agentId)) {
    for (const { event, recorded } of page) {
      if (event.turn > turn) return found
      const { toolCallId = '' } = event
      if (event.type === 'approval_decided') deciders.set(toolCallId, event.actor)
      if (event.type === 'permission_granted' && recorded.erased !== true) {
        const { tool, scope, until, reason } = event.body
        grants.set(toolCallId, { tool, scope, until, reason, by: deciders.get(toolCallId)?.id ?? null })
      }
      if (event.type !== 'tool_call_start' || event.turn !== turn || event.body.permission === undefined) continue
      const { toolName, permission } = event.body
      found.push({ toolCallId, toolName, permission, granted: grants.get(permission) ?? null })
    }
  }
  return found
}
