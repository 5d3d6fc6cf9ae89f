import { delegateToAgent } from '../../../domain/agent/control/delegate-to-agent.ts'
import type { Policy } from '../../../domain/calls/policy-schema.ts'
import { echo } from '../../../domain/log/issues.ts'
import {
  DELEGABLE,
  type DelegableRole,
  type Delegation,
  type RoleBackend,
  TreeLimits,
} from '../../../domain/tree/spec.ts'
import type { KnownRoles } from '../definitions/roles.ts'
import { Problem } from '../problem.ts'
import type { StartRun } from './start-schemas.ts'

/** An external agent that the settings assign to a role. */
export interface GivenBackend extends RoleBackend {
  /** The agent reports its cost, or its model has a known price. */
  readonly costs: boolean
}
/** The assignments in the settings, by role. */
export type GivenBackends = { readonly [R in DelegableRole]?: GivenBackend }

interface Asked {
  readonly limits: StartRun['delegation']
  readonly policy: Pick<Policy, 'deniedTools' | 'backends'>
  readonly workspace: object | null
  readonly budget?: StartRun['budget'] | undefined
  readonly backends?: (() => GivenBackends) | undefined
}

/**
 * The delegation of a run. Null: not requested, or denied by the policy. Children get the present definitions of the
 * roles. A role whose gates run commands needs a workspace.
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
 * The roles that the run assigns to external agents: those of the settings whose kind the policy grants. Throws
 * `UNKNOWN_AGENT` for a kind without a role, or that this host does not have. Throws `INVALID_REQUEST` for a kind that
 * cannot enforce rights, and for a budget of money that cannot be enforced.
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

/** The additional tool of a run that delegates. */
export const DELEGATE = delegateToAgent.spec
