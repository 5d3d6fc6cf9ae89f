import { delegateToAgent } from '../../../domain/agent/control/delegate-to-agent.ts'
import {
  DELEGABLE,
  type DelegableRole,
  type Delegation,
  type Policy,
  type RoleBackend,
  TreeLimits,
} from '../../../domain/agent/definition/spec.ts'
import { echo } from '../../../domain/log/issues.ts'
import type { KnownRoles } from '../definitions/roles.ts'
import { Problem } from '../problem.ts'
import type { StartRun } from './start-schemas.ts'

/** Another agent that the settings give a role to. */
export interface GivenBackend extends RoleBackend {
  /** It tells what a run costs, or what it costs follows from its model's price. */
  readonly costs: boolean
}
/** By role, as the settings say. */
export type GivenBackends = { readonly [R in DelegableRole]?: GivenBackend }

interface Asked {
  readonly limits: StartRun['delegation']
  readonly policy: Pick<Policy, 'deniedTools' | 'backends'>
  readonly workspace: object | null
  readonly budget?: StartRun['budget'] | undefined
  readonly backends?: (() => GivenBackends) | undefined
}

/**
 * How a run delegates, or null where it does not: it was not asked for, or its policy denies it. Its children
 * have the roles as they are now; one whose gates run commands needs a workspace.
 */
export function delegationOf({ roles }: KnownRoles, asked: Asked): Delegation | null {
  const { limits, policy, workspace } = asked
  const backends = granted(asked)
  if (limits === undefined || limits === false || policy.deniedTools.includes(DELEGATE.name)) return null
  const usable = roles.filter(
    ({ definition }) => workspace !== null || definition.qualityGates.every(({ argv }) => argv === undefined),
  )
  const definitions = DELEGABLE.flatMap((name) => {
    const found = usable.find((role) => role.name === name)
    return found === undefined ? [] : [[name, found.definition] as const]
  })
  const others = Object.keys(backends).length === 0 ? {} : { backends }
  return { ...TreeLimits.parse(limits), roles: Object.fromEntries(definitions), ...others }
}

/**
 * The roles that the run gives to other agents: those of the settings whose kind its policy grants. Throws `UNKNOWN_AGENT` for a
 * kind that no role is given to or that this host has not, `INVALID_REQUEST` for one that cannot be held to rights, and for a
 * budget of money that nothing could be held against.
 */
function granted({ policy: { backends: kinds = [] }, backends, budget }: Asked): NonNullable<Delegation['backends']> {
  if (kinds.length === 0) return {}
  const given = Object.entries(backends?.() ?? {})
  const unknown = kinds.find((kind) => !given.some(([, one]) => one.kind === kind))
  if (unknown !== undefined)
    throw new Problem(
      'UNKNOWN_AGENT',
      `policy.backends: no role is given to "${echo(unknown)}"; name it for a role in "agents.roles" of keepup.json`,
    )
  const chosen = given.filter(([, { kind }]) => kinds.includes(kind))
  const loose = chosen.find(([, { levels }]) => levels.length === 0)
  if (loose !== undefined)
    throw new Problem(
      'INVALID_REQUEST',
      `policy.backends: ${loose[1].kind} cannot be started with less than all rights, so that no role can be given to it; name another one in "agents.roles"`,
    )
  const untold = chosen.find(([, { costs }]) => !costs)
  if (budget?.nanoDollars != null && untold !== undefined)
    throw new Problem(
      'INVALID_REQUEST',
      `budget: ${untold[1].kind} does not tell what a run costs; name a model whose price is known in "agents.roles", or give a budget of tokens`,
    )
  return Object.fromEntries(chosen.map(([role, { costs: _, ...backend }]) => [role, backend]))
}

/** The tool that a run which delegates has beside the others. */
export const DELEGATE = delegateToAgent.spec
