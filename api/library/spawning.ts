import type { Actor } from '../../domain/log/envelope.ts'
import type { ExternalRuns } from '../../domain/ports/external.ts'
import { ContextStore } from '../../domain/runtime/context/store.ts'
import { StreamVariables } from '../../domain/runtime/context/stream-variables.ts'
import { agentsOf } from '../app/agents/agents.ts'
import type { Services } from '../app/services.ts'

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

/** A store of context variables in the log. Throws `INVALID_VARIABLE` for a name that cannot be a store's. */
export function contextStoreOf(s: Services, store: string, by: Actor): ContextStore {
  const { log, blobs, clock, random } = s
  const hide = async (value: Parameters<StreamVariables['set']>[1]) => (await agentsOf(s).log()).hideValue(value)
  return new ContextStore(new StreamVariables({ ports: { log, blobs, clock, random }, store, by, hide }))
}
