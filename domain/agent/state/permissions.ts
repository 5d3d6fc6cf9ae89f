import { instantOf } from '../../log/instant.ts'
import type { EventOf } from '../events/events.ts'
import type { PermissionScope } from '../events/permissions.ts'

export interface Permission {
  /** The id of the call that asked for it. */
  readonly id: string
  /** A tool name, or `server:*`. */
  readonly tool: string
  readonly scope: PermissionScope
  /** ms since the epoch. */
  readonly until: number
  /** The phase that it is bound to; null: none. */
  readonly phase: string | null
}

/** The permissions after a grant, which replaces an earlier permission for the same tool and scope. */
export function granted(
  permissions: readonly Permission[] = [],
  { toolCallId: id = '', body: { tool, scope, until, phase } }: EventOf<'permission_granted'>,
): readonly Permission[] {
  const others = permissions.filter((one) => one.tool !== tool || one.scope !== scope)
  return [...others, { id, tool, scope, until: instantOf(until), phase: phase ?? null }]
}

export const withoutPermission = (permissions: readonly Permission[] = [], id: string): readonly Permission[] =>
  permissions.filter((one) => one.id !== id)
