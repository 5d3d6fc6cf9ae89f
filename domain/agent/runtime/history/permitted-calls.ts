import type { Actor } from '../../../log/envelope.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import type { BodyOf } from '../../events/events.ts'
import { history } from './history.ts'

/** A call that the policy refuses, with the permission that it uses. */
export interface PermittedCall {
  readonly toolCallId: string
  readonly toolName: string
  /** The id of the call that asked for the permission. */
  readonly permission: string
  /** False: the call waits, was rejected, or its permission ended first. */
  readonly ran: boolean
  /** The granted permission, and the id of the approver; null: erased. */
  readonly granted: (Omit<BodyOf<'permission_granted'>, 'phase'> & { readonly by: string | null }) | null
}

/** The calls of a turn that use a person's permission (CONTRACTS 3), in order. */
export async function permittedCalls(stores: Stores, agentId: string, turn: number): Promise<PermittedCall[]> {
  const grants = new Map<string, NonNullable<PermittedCall['granted']>>()
  const deciders = new Map<string, Actor>()
  const found = new Map<string, PermittedCall>()
  for await (const page of history(stores, agentId)) {
    for (const { event, recorded } of page) {
      if (event.turn > turn) return [...found.values()]
      const { toolCallId = '' } = event
      const known = found.get(toolCallId)
      if (event.type === 'tool_call_intent' && known !== undefined) found.set(toolCallId, { ...known, ran: true })
      if (event.type === 'approval_decided') deciders.set(toolCallId, event.actor)
      if (event.type === 'permission_granted' && recorded.erased !== true) {
        const { tool, scope, until, reason } = event.body
        grants.set(toolCallId, { tool, scope, until, reason, by: deciders.get(toolCallId)?.id ?? null })
      }
      if (event.type !== 'tool_call_start' || event.turn !== turn || event.body.permission === undefined) continue
      const { toolName, permission, intent } = event.body
      found.set(toolCallId, { toolCallId, toolName, permission, ran: intent, granted: grants.get(permission) ?? null })
    }
  }
  return [...found.values()]
}
