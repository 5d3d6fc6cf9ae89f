import type { Actor } from '../../domain/log/envelope.ts'
import type { ExternalRuns } from '../../domain/ports/external.ts'
import { agentsOf } from '../operations/external/agents.ts'
import type { Services } from '../operations/services.ts'

// The services of an open data folder that spawn-and-wait (seed 004) needs.

/** Runs of other agents, each started by a person. */
export function externalRunsOf(s: Services, by: () => Actor): ExternalRuns {
  return {
    run: async (kind, request, asked) => agentsOf(s).run(kind, request, { by: by(), ...asked }),
    at: (agentId) => s.agents?.at(agentId),
    recorded: async (agentId) => agentsOf(s).recorded(agentId),
    stop: async (agentId, reason) => agentsOf(s).stop(agentId, reason),
  }
}
