import type { SessionSelector } from '../../../domain/external/extensions.ts'
import type { AgentRunRequest } from '../../../domain/external/request.ts'
import type { ReachedTools } from '../process/cli-agent.ts'

/** The options of a request that every command line supports in some form. */
interface Asked {
  readonly model?: string
  readonly resume?: SessionSelector
  readonly fork?: SessionSelector
  readonly dirs: readonly string[]
  /** The caller's sandbox confines the agent. */
  readonly sandboxed: boolean
}

export function askedOf({ extensions = {} }: AgentRunRequest): Asked {
  const model = extensions['agent_api.config.model.v1']
  const resume = extensions['agent_api.session.resume.v1']
  const fork = extensions['agent_api.session.fork.v1']
  return {
    ...(model !== undefined && { model }),
    ...(resume !== undefined && { resume }),
    ...(fork !== undefined && { fork }),
    dirs: extensions['agent_api.exec.add_dirs.v1']?.dirs ?? [],
    sandboxed: extensions['agent_api.exec.external_sandbox.v1'] === true,
  }
}

/** Refuses interactive requests: a command line without a terminal cannot ask questions. */
export const neverAsks = ({ extensions }: AgentRunRequest): string | null =>
  extensions?.['agent_api.exec.non_interactive'] === false
    ? 'agent_api.exec.non_interactive: this backend asks no questions; leave it out, or use acp'
    : null

/**
 * The time that a program waits for a call of keepup's own tools. Equals the default time limit of an approval. In ms.
 */
export const CALL_MS = 24 * 60 * 60 * 1000

/** An MCP server entry in the form that most programs read. */
export const httpServer = ({ url, token }: Pick<ReachedTools, 'url' | 'token'>) => ({
  url,
  headers: { Authorization: `Bearer ${token}` },
})

/** The capabilities of every command line in this folder. Each was tested with the real program. */
export const COMMON = [
  'agent_api.run',
  'agent_api.events',
  'agent_api.events.live',
  'agent_api.control.cancel.v1',
  'agent_api.tools.structured.v1',
  'agent_api.artifacts.final_text.v1',
  'agent_api.session.handle.v1',
  'agent_api.session.resume.v1',
  'agent_api.config.model.v1',
  'agent_api.exec.non_interactive',
  'agent_api.exec.external_sandbox.v1',
] as const
