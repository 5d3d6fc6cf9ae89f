import type { z } from 'zod'
import { instantOf } from '../log/instant.ts'
import type { PermissionScope, permissionEvents } from './events/permissions.ts'
import { matches } from './tools/tool-patterns.ts'

// Permissions that an agent asked a person for (CONTRACTS 3). A permission lifts only the policy's refusal of a tool:
// by denial, by allowlist, or by phase. Approvals, recovery, the rules of turns and complete_task, budgets, limits, the
// workspace and the sandbox still apply.

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

interface Granted {
  readonly toolCallId?: string
  readonly body: z.infer<typeof permissionEvents.permission_granted>
}

/** The permissions after a grant, which replaces an earlier permission for the same tool and scope. */
export function granted(
  permissions: readonly Permission[] = [],
  { toolCallId: id = '', body: { tool, scope, until, phase } }: Granted,
): readonly Permission[] {
  const others = permissions.filter((one) => one.tool !== tool || one.scope !== scope)
  return [...others, { id, tool, scope, until: instantOf(until), phase: phase ?? null }]
}

export const withoutPermission = (permissions: readonly Permission[] = [], id: string): readonly Permission[] =>
  permissions.filter((one) => one.id !== id)

/** The permission that lifts the policy's refusal of a tool; undefined: none. */
export const permissionFor = (permissions: readonly Permission[] = [], toolName: string): Permission | undefined =>
  permissions.find(({ tool }) => matches(tool, toolName))
