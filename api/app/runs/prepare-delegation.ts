import { delegateToAgent } from '../../../domain/agent/control/delegate-to-agent.ts'
import { DELEGABLE, type Delegation, type Policy, TreeLimits } from '../../../domain/agent/definition/spec.ts'
import type { KnownRoles } from '../roles.ts'
import type { StartRun } from '../schemas/start.ts'

interface Asked {
  readonly limits: StartRun['delegation']
  readonly policy: Pick<Policy, 'deniedTools'>
  readonly workspace: object | null
}

/**
 * How a run delegates, or null where it does not: it was not asked for, or its policy denies it. Its children
 * have the roles as they are now; one whose gates run commands needs a workspace.
 */
export function delegationOf({ roles }: KnownRoles, { limits, policy, workspace }: Asked): Delegation | null {
  if (limits === undefined || limits === false || policy.deniedTools.includes(DELEGATE.name)) return null
  const usable = roles.filter(
    ({ definition }) => workspace !== null || definition.qualityGates.every(({ argv }) => argv === undefined),
  )
  const definitions = DELEGABLE.flatMap((name) => {
    const found = usable.find((role) => role.name === name)
    return found === undefined ? [] : [[name, found.definition] as const]
  })
  return { ...TreeLimits.parse(limits), roles: Object.fromEntries(definitions) }
}

/** The tool that a run which delegates has beside the others. */
export const DELEGATE = delegateToAgent.spec
