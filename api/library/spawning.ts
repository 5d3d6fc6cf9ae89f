import type { Actor } from '../../domain/log/envelope.ts'
import type { ExternalRuns } from '../../domain/ports/external.ts'
import { externalAgents } from '../operations/external/agents.ts'
import type { Services } from '../operations/services.ts'

// The services of an open data folder for spawn-and-wait (seed 004).

/** Runs of external agents that a person starts. */
export function externalRunsOf(s: Services, by: () => Actor): ExternalRuns {
  return {
    run: async (kind, request, asked) => externalAgents(s).run(kind, request, { by: by(), ...asked }),
    at: (agentId) => s.agents?.at(agentId),
    recorded: async (agentId) => externalAgents(s).recorded(agentId),
    stop: async (agentId, reason) => externalAgents(s).stop(agentId, reason),
  }
}
