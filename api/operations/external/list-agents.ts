import { AgentError } from '../../../domain/external/errors.ts'
import { VERSION } from '../../version.ts'
import { OWN_AGENT } from '../runs/own-agent.ts'
import type { Services } from '../services.ts'
import { OWN_CAPABILITIES } from './own-capabilities.ts'
import type { AgentKind } from './schemas.ts'

/** keepup's own agent, which is always available. `doctor` checks its models. */
const OWN: AgentKind = {
  kind: OWN_AGENT,
  ungoverned: false,
  capabilities: [...OWN_CAPABILITIES].sort(),
  installed: true,
  version: VERSION,
  login: 'unknown',
  loginAt: null,
  problem: null,
}

/** The kinds of agents with their state on this machine, or only one kind. Runs programs to get their versions. */
export async function agentViews({ agents }: Pick<Services, 'agents'>, only?: string): Promise<AgentKind[]> {
  const others = (agents?.list() ?? []).filter(({ kind }) => only === undefined || kind === only)
  const views = others.map(async ({ kind, capabilities }): Promise<AgentKind> => {
    const state = await agents?.inspect(kind)
    const login = state?.login === undefined ? 'unknown' : state.login === null ? 'missing' : 'found'
    return {
      ...{ kind, ungoverned: true, capabilities, login, loginAt: state?.login ?? null },
      installed: state?.installed ?? false,
      version: state?.version ?? null,
      problem: state?.problem ?? null,
    }
  })
  const own = only === undefined || only === OWN_AGENT ? [OWN] : []
  return [...own, ...(await Promise.all(views))].sort((a, b) => (a.kind < b.kind ? -1 : 1))
}

/** The capabilities of a kind, sorted. Throws `UnknownBackend`. */
export function capabilitiesOf({ agents }: Pick<Services, 'agents'>, kind: string): readonly string[] {
  const known = [OWN, ...(agents?.list() ?? [])]
  const found = known.find((one) => one.kind === kind)
  if (found !== undefined) return found.capabilities
  const kinds = known.map((one) => one.kind).join(', ')
  throw new AgentError('UnknownBackend', `there is no such backend; use one of: ${kinds}`)
}
