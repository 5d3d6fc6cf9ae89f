import { z } from 'zod'
import { Instant, text } from '../../log/body-parts.ts'

// Permissions that an agent asked a person for (CONTRACTS 3). The id of the asking call identifies the permission.

/** The extent of a permission: the next call, the rest of the phase, or the rest of the run. */
export const PermissionScope = z.enum(['call', 'phase', 'run'])
export type PermissionScope = z.infer<typeof PermissionScope>

export const permissionEvents = {
  /**
   * The person who approved the call lifts the policy's refusal of this tool, or of a server's tools, until `until` at
   * the latest. `phase`: the phase of a permission with that scope.
   */
  permission_granted: z.strictObject({
    tool: z.string().min(1),
    scope: PermissionScope,
    until: Instant,
    phase: text.optional(),
    reason: text,
  }),
  /** `permission`: the id of the call that asked for it. */
  permission_ended: z.strictObject({ permission: z.string().min(1), why: z.enum(['expired', 'used', 'phase']) }),
  permission_revoked: z.strictObject({ permission: z.string().min(1), reason: text.optional() }),
} as const
