import { namesNoTool } from '../../../domain/agent/rules/policy-check.ts'
import { checkPolicy } from '../../../domain/agent/runtime/history/check-policy.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { Problem } from '../problem.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import type { CheckPolicy, PolicyChecked } from './schemas.ts'

/**
 * Checks the recorded calls of runs against a different policy or role. Lists the calls that it would have refused or
 * asked about. Performs nothing. Rejects with UNKNOWN_ROLE, and with RUN_UNKNOWN or NOT_FOUND for an unknown run.
 */
export async function checkRuns(
  s: Pick<Services, 'log' | 'blobs' | 'read' | 'roles'>,
  { policy, role, runs }: CheckPolicy,
): Promise<PolicyChecked> {
  const other = {
    ...(policy === undefined ? {} : { policy }),
    ...(role === undefined ? {} : { role: await roleNamed(s, role) }),
  }
  const [found, ungoverned]: [PolicyChecked['found'], string[]] = [[], []]
  const tools = new Set<string>()
  let calls = 0
  for (const runId of new Set(runs)) {
    await mustBeRun(s, runId)
    if ((await s.log.head(agentStream(runId))) === null) {
      ungoverned.push(runId)
      continue
    }
    const agents = new Set([runId, ...(await s.read.heads(runId)).value.keys()])
    for (const agentId of agents) {
      const checked = await checkPolicy(s, agentId, other)
      calls += checked.calls
      for (const tool of checked.tools) tools.add(tool)
      found.push(...checked.found.map((one) => ({ runId, ...one })))
    }
  }
  return { calls, found, ungoverned, unknown: policy === undefined ? [] : namesNoTool(policy, tools) }
}

async function roleNamed(s: Pick<Services, 'roles'>, name: string) {
  const { roles, faults } = await s.roles()
  const found = roles.find((role) => role.name === name)
  if (found !== undefined) return found.definition
  const known = `there are ${roles.map((role) => role.name).join(', ')}`
  throw new Problem('UNKNOWN_ROLE', [`there is no role "${name}"; ${known}`, ...faults].join('; '))
}
