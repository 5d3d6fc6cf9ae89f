import type { AgentBackend, AgentRunHandle, AgentRunRequest, StartedBy } from '../../../domain/ports/external.ts'
import type { AgentGateway } from '../../../domain/runtime/external/gateway.ts'

/** What a host brings to run other agents. */
export interface AgentsHost {
  readonly backends: readonly AgentBackend[]
  /** A gateway for one run: it hides what is secret now, and the values of the request's environment. */
  gateway(request: AgentRunRequest): Promise<AgentGateway>
  /** Ends in the log what an earlier process of this data folder left running; gives how many runs. */
  settle(): Promise<number>
}

/** Runs of other agents by this process. Our policy sees nothing of what they do: every view marks them as ungoverned. */
export class Agents {
  readonly #host: AgentsHost
  readonly #runs = new Map<string, AgentRunHandle>()
  #closing = false

  constructor(host: AgentsHost) {
    this.#host = host
  }

  /** The kinds that can be asked for, with what each can do. */
  list(): readonly { readonly kind: string; readonly capabilities: readonly string[] }[] {
    return this.#host.backends
      .map(({ kind, capabilities }) => ({ kind, capabilities: [...capabilities].sort() }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1))
  }

  /** Starts a run. Rejects as `AgentGateway.run` does. */
  async run(kind: string, request: AgentRunRequest, asked: StartedBy = {}): Promise<AgentRunHandle> {
    if (this.#closing) throw new Error('this process is ending, so no agent is started; ask another one')
    const gateway = await this.#host.gateway(request)
    const handle = await gateway.run(kind, request, asked)
    this.#runs.set(handle.agentId, handle)
    const forget = () => void this.#runs.delete(handle.agentId)
    handle.completion.then(forget, forget)
    // The process was asked to end while the start was recorded.
    if (this.#closing) handle.cancel()
    return handle
  }

  /** A run that is at work here. */
  at(agentId: string): AgentRunHandle | undefined {
    return this.#runs.get(agentId)
  }

  settle(): Promise<number> {
    return this.#host.settle()
  }

  /** Cancels what is at work here, and resolves when its processes have ended and the log says so. */
  async close(): Promise<void> {
    this.#closing = true
    await Promise.all([...this.#runs.values()].map((handle) => handle[Symbol.asyncDispose]()))
  }
}
