import type { AgentBackend, BackendState } from '../../../domain/ports/external.ts'
import { notAllowed } from '../process/environment.ts'
import { programOf } from '../process/find-agent.ts'
import { confinementOf, type HarnessOptions } from '../process/harness.ts'
import type { AcpAgent } from './agent.ts'

/**
 * The capabilities of the protocol. An agent may lack one of the last two; a run that asks for it then ends as
 * `UnsupportedCapability`.
 */
const CAPABILITIES = [
  'agent_api.run',
  'agent_api.events',
  'agent_api.events.live',
  'agent_api.control.cancel.v1',
  'agent_api.tools.structured.v1',
  'agent_api.tools.results.v1',
  'agent_api.artifacts.final_text.v1',
  'agent_api.session.handle.v1',
  'agent_api.exec.non_interactive',
  'agent_api.exec.external_sandbox.v1',
  'agent_api.session.resume.v1',
  'agent_api.exec.add_dirs.v1',
]

/** A backend that drives an agent over the Agent Client Protocol. */
export function createAcpBackend(agent: AcpAgent, options: HarnessOptions): AgentBackend {
  return {
    kind: agent.kind ?? 'acp',
    capabilities: CAPABILITIES,
    contradiction({ env, workingDir, extensions = {} }) {
      if (extensions['agent_api.session.resume.v1']?.selector === 'last')
        return 'agent_api.session.resume.v1: the protocol resumes a session by its id; give the id'
      const dirs = extensions['agent_api.exec.add_dirs.v1']?.dirs ?? []
      return notAllowed(options.allowed ?? {}, env, [workingDir ?? options.workspace, ...dirs])
    },
    confinement: (request) => confinementOf(options, agent, request),
    // Loads the protocol's library only when an agent starts.
    start: async (request, run) => (await import('./turn.ts')).runTurn(agent, options, request, run),
    inspect: async () => inspect(agent, options),
  }
}

/** The protocol reports its version only in `initialize`, and `inspect` does not start the agent. */
function inspect({ program }: AcpAgent, options: HarnessOptions): BackendState {
  try {
    programOf(program, options)
    return { installed: true, version: null }
  } catch (error) {
    return { installed: false, version: null, problem: (error as Error).message }
  }
}
