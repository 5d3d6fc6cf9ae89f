import type { SessionSelector } from '../../../domain/external/extensions.ts'
import type { AgentRunRequest } from '../../../domain/external/request.ts'
import type { ReachedTools } from '../process/cli-agent.ts'

/** The options of a request that all command lines know in one way or another. */
export interface Asked {
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

/** A command line that is run without a terminal asks no questions. */
export const neverAsks = ({ extensions }: AgentRunRequest): string | null =>
  extensions?.['agent_api.exec.non_interactive'] === false
    ? 'agent_api.exec.non_interactive: this backend asks no questions; leave it out, or use acp'
    : null

/** For so long a program waits for a call of keepup's own tools: as long as an approval waits for a person by default. In ms. */
export const CALL_MS = 24 * 60 * 60 * 1000

/** An entry of an MCP server as most programs write it. */
export const httpServer = ({ url, token }: Pick<ReachedTools, 'url' | 'token'>) => ({
  url,
  headers: { Authorization: `Bearer ${token}` },
})

/** The flags of every command line here: each was measured. */
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
