import type { AgentState } from '../../../domain/agent/state/state.ts'
import type { PermissionList } from './schemas.ts'

/** The permissions in an agent's state, in the form of the API. */
export const permissionsOf = ({ permissions = [] }: AgentState): PermissionList['permissions'] =>
  permissions.map(({ until, ...one }) => ({ ...one, until: new Date(until).toISOString() }))
