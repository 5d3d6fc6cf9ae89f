import { z } from 'zod'
import { PermissionScope } from '../../../domain/calls/events/permissions.ts'
import { By } from '../schemas.ts'

export const PermissionView = z.strictObject({
  id: z.string().meta({ description: 'The call that asked for it' }),
  tool: z.string(),
  scope: PermissionScope,
  until: z.string(),
  phase: z.string().nullable(),
})

/** The valid permissions that people gave an agent beyond its policy. */
export const PermissionList = z
  .strictObject({ runId: z.string(), agentId: z.string(), permissions: z.array(PermissionView).readonly() })
  .meta({ id: 'PermissionList' })
export type PermissionList = z.infer<typeof PermissionList>

export const RevokeBody = z
  .strictObject({ reason: z.string().min(1).optional(), by: By.optional() })
  .meta({ id: 'RevokePermission' })
