import type { AgentState } from '../../../domain/agent/state/state.ts'
import type { PermissionList } from './schemas.ts'

/** The permissions of an agent in this state, as the API shows them. */
export const permissionsOf = ({ permissions = [] }: AgentState): PermissionList['permissions'] =>
  permissions.map(({ until, ...one }) => ({ ...one, until: new Date(until).toISOString() }))
