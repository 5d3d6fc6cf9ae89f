import { agentViews } from '../external/list-agents.ts'
import { OWN_AGENT } from '../runs/own-agent.ts'
import type { Services } from '../services.ts'
import { bad, type Finding, ok } from './finding.ts'

/** The programs of other agents on this machine. None of them is needed, so a missing one is no fault. */
export async function checkAgents(s: Services): Promise<Finding[]> {
  const others = (await agentViews(s)).filter(({ kind }) => kind !== OWN_AGENT)
  return others.map(({ kind, installed, version, login, problem }) => {
    if (!installed) return ok('agent', `${kind}: not installed`)
    const found = `${kind}: ${version ?? 'version not known'}`
    const todo = `start ${kind} once by itself, then look again`
    if (problem !== null) return bad('warning', 'agent', `${found}; ${problem}`, todo)
    return login === 'missing'
      ? bad('warning', 'agent', `${found}; nobody is logged in`, `log in with ${kind} itself`)
      : ok('agent', found)
  })
}
