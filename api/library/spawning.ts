import type { Right } from '../../domain/access/rights.ts'
import type { ExternalRuns } from '../../domain/ports/external.ts'
import { externalAgents } from '../operations/external/agents.ts'
import { actorOf } from '../operations/runs/request-options.ts'
import type { Services } from '../operations/services.ts'
import type { Callers } from './sender.ts'

// The services of an open data folder for spawn-and-wait (seed 004).

/** Runs of external agents that a person starts. */
export function externalRunsOf(s: Services, callers: Callers): ExternalRuns {
  const person = async (right: Right, operation: string, run: string | null) => {
    const { by, options } = await callers.caller(undefined, { right, operation, run })
    return actorOf('user', by, options)
  }
  return {
    async run(kind, request, asked) {
      const by = await person('runs.start', 'runAgent', null)
      return externalAgents(s).run(kind, request, { by, ...asked })
    },
    at: (agentId) => s.agents?.at(agentId),
    async recorded(agentId) {
      await person('bodies.read', 'getAgent', agentId)
      return externalAgents(s).recorded(agentId)
    },
    async stop(agentId, reason) {
      await person('runs.steer', 'cancelRun', agentId)
      return externalAgents(s).stop(agentId, reason)
    },
  }
}
