import { AgentError } from './errors.ts'
import { HOSTED } from './hosted/state.ts'
import { OTLP } from './reported/backend.ts'

/** The pattern of an agent kind. */
export const AGENT_KIND = /^[a-z][a-z0-9_]*$/

/** The capabilities with the same meaning for every backend. Capability ids and extension ids share one namespace. */
export const CORE_CAPABILITIES = [
  'agent_api.run',
  'agent_api.events',
  'agent_api.events.live',
  'agent_api.control.cancel.v1',
  'agent_api.tools.structured.v1',
  'agent_api.tools.results.v1',
  'agent_api.artifacts.final_text.v1',
  'agent_api.session.handle.v1',
  'agent_api.session.resume.v1',
  'agent_api.session.fork.v1',
  'agent_api.config.model.v1',
  'agent_api.exec.non_interactive',
  'agent_api.exec.add_dirs.v1',
  'agent_api.exec.external_sandbox.v1',
] as const

const CORE: ReadonlySet<string> = new Set(CORE_CAPABILITIES)

/** Throws `InvalidAgentKind` for a malformed kind, and for the kinds of reported and hosted runs. */
export function checkAgentKind(kind: string): void {
  if ((HOSTED as readonly string[]).includes(kind))
    throw new AgentError('InvalidAgentKind', `${kind} is the kind of runs that programs host; use another kind`)
  if (kind === OTLP)
    throw new AgentError('InvalidAgentKind', `${OTLP} is the kind of runs that programs report; use another kind`)
  if (AGENT_KIND.test(kind)) return
  throw new AgentError(
    'InvalidAgentKind',
    'the kind of an agent is a lower-case letter, then lower-case letters, digits and "_"',
  )
}

/** Throws `UnsupportedCapability` if a backend advertises an id that is neither a core id nor in its own namespace. */
export function checkCapabilities(kind: string, ids: Iterable<string>): void {
  const foreign = [...ids].filter((id) => !CORE.has(id) && !isOwn(kind, id)).sort()[0]
  if (foreign === undefined) return
  throw new AgentError(
    'UnsupportedCapability',
    `${kind} advertises ${JSON.stringify(foreign)}; use a core id, or one that begins with "backend.${kind}."`,
  )
}

const isOwn = (kind: string, id: string): boolean =>
  id.startsWith(`backend.${kind}.`) && id.length > `backend.${kind}.`.length
