import { ERASED } from '../calls/events/residue.ts'
import { type AgentSpec, type Delegation, type RoleDefinition, WARNING } from './spec.ts'

/** A role without its words. Names, phases and gates stay, because the fold needs them. */
const roleWithoutText = ({ prompt: _, ...role }: RoleDefinition): RoleDefinition => ({
  ...role,
  profile: ERASED,
  goal: ERASED,
})

const withoutTexts = (roles: Delegation['roles']): Delegation['roles'] =>
  Object.fromEntries(Object.entries(roles).map(([name, role]) => [name, roleWithoutText(role)]))

/**
 * The spec without the text that people wrote. A fork can run with it: the default warning replaces the run's warning.
 * The test command and the role's idempotent commands remain, because gates and retries depend on them.
 */
export function withoutText(spec: AgentSpec): AgentSpec {
  const { instructions, knowledge, role, workspace, recovery, delegation } = spec
  return {
    ...spec,
    contextVariables: {},
    role: role && roleWithoutText(role),
    workspace: workspace && { ...workspace, path: ERASED },
    recovery: { ...recovery, warningTemplate: WARNING },
    ...(delegation && { delegation: { ...delegation, roles: withoutTexts(delegation.roles) } }),
    ...(instructions === undefined ? {} : { instructions: ERASED }),
    ...(knowledge === undefined ? {} : { knowledge: [] }),
  }
}
