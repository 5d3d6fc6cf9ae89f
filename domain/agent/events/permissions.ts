import { z } from 'zod'
import { Instant, text } from './event-parts.ts'

// Permissions that an agent has asked a person for (CONTRACTS 3). They are known by the id of the call that asked.

/** How far a permission reaches: the next call, the rest of the phase, or the rest of the run. */
export const PermissionScope = z.enum(['call', 'phase', 'run'])
export type PermissionScope = z.infer<typeof PermissionScope>

export const permissionEvents = {
  /**
   * The person who approved the call has lifted the policy's refusal of this tool, or of a server's tools, until the instant
   * at the latest. `phase`: the phase that a permission of that scope belongs to.
   */
  permission_granted: z.strictObject({
    tool: z.string().min(1),
    scope: PermissionScope,
    until: Instant,
    phase: text.optional(),
    reason: text,
  }),
  /** `permission`: the call that had asked for it. */
  permission_ended: z.strictObject({ permission: z.string().min(1), why: z.enum(['expired', 'used', 'phase']) }),
  /** The actor has taken the permission back. */
  permission_revoked: z.strictObject({ permission: z.string().min(1), reason: text.optional() }),
} as const
