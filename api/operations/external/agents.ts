import type { AgentSpec, Price } from '../../../domain/agent/definition/spec.ts'
import { AgentError } from '../../../domain/external/errors.ts'
import type { AgentGateway } from '../../../domain/external/runtime/gateway.ts'
import type { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { isFinished } from '../../../domain/external/state.ts'
import type { Json } from '../../../domain/log/json.ts'
import type {
  AgentBackend,
  AgentRunHandle,
  AgentRunRequest,
  BackendState,
  ExternalRuns,
  HeldFiles,
  RecordedRun,
  StartedBy,
} from '../../../domain/ports/external.ts'
import type { Clock } from '../../../domain/ports/index.ts'
import type { DelegatedRuns, ToolDesk } from '../../../domain/ports/runtime.ts'
import { KeyedMutex } from '../../../domain/stream/runtime/concurrency.ts'
import { Problem } from '../problem.ts'
import type { AgentsAllowed } from './allowed.ts'
import { type AgentLease, hold } from './leases.ts'

/** Of whose run the secrets and their patterns are hidden. */
type Hidden = Pick<AgentSpec, 'secrets' | 'policy'>

/** The services of a host that runs other agents. */
export interface AgentsHost {
  readonly backends: readonly AgentBackend[]
  /** The values that requests over the network may give them. */
  readonly allowed: AgentsAllowed
  readonly clock: Clock
  newId(): string
  /** Absent where no other process drives. */
  readonly lease?: AgentLease
  /** A gateway for one run: it hides what is secret now, and the values of the request's environment. */
  gateway(request: AgentRunRequest, about?: Hidden): Promise<AgentGateway>
  /** The files of a folder that another run holds, to keep versions of them. */
  share(folder: string, about: Hidden): Promise<HeldFiles>
  /** The price of a model by the name that an agent knows it by; null: not known. */
  price(model: string): Price | null
  /** The log of their runs, which hides what is secret in a person's words. */
  log(): Promise<{
    readonly log: StreamExternalLog
    hide(text: string): string
    /** A value as it may be recorded; what it hid is kept by then. */
    hideValue(value: Json): Promise<Json>
  }>
  /** Ends in the log what an earlier process of this data folder left running; gives how many runs. */
  settle(): Promise<number>
}

/** For so long what a program said of itself holds: a page that shows the agents starts no program each time. In ms. */
const INSPECTED_MS = 10_000

/** Runs of other agents by this process. Our policy sees nothing of what they do: every view marks them as ungoverned. */
export class Agents implements ExternalRuns, DelegatedRuns {
  readonly #host: AgentsHost
  readonly #runs = new Map<string, AgentRunHandle>()
  readonly #inspected = new Map<string, { readonly at: number; readonly state: Promise<BackendState> }>()
  /** Starts by their run's id, one after another. */
  readonly starting = new KeyedMutex()
  #closing = false

  constructor(host: AgentsHost) {
    this.#host = host
  }

  get allowed(): AgentsAllowed {
    return this.#host.allowed
  }

  /** The kinds that can be asked for, with what each can do. */
  list(): readonly { readonly kind: string; readonly capabilities: readonly string[] }[] {
    return this.#host.backends
      .map(({ kind, capabilities }) => ({ kind, capabilities: [...capabilities].sort() }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1))
  }

  /** See `AgentBackend.withoutRights`; null also where there is no such kind. */
  withoutRights(kind: string, request: AgentRunRequest): string | null {
    return this.#host.backends.find((backend) => backend.kind === kind)?.withoutRights?.(request) ?? null
  }

  /** The state of a kind on this machine, as it was {@link INSPECTED_MS} ago at most; null: there is no such kind. */
  async inspect(kind: string): Promise<BackendState | null> {
    const backend = this.#host.backends.find((one) => one.kind === kind)
    if (backend === undefined) return null
    if (backend.inspect === undefined) return { installed: true, version: null }
    const now = this.#host.clock.now()
    const known = this.#inspected.get(kind)
    if (known !== undefined && now - known.at < INSPECTED_MS) return known.state
    const state = backend.inspect()
    this.#inspected.set(kind, { at: now, state })
    state.catch(() => this.#inspected.delete(kind))
    return state
  }

  /** Starts a run. Rejects as `AgentGateway.run` does. */
  async run(kind: string, request: AgentRunRequest, asked: StartedBy = {}): Promise<AgentRunHandle> {
    // The gateway refuses a request that is no object, after an unknown kind.
    const model = request?.extensions?.['agent_api.config.model.v1']
    const price = typeof model === 'string' ? this.#host.price(model) : null
    return this.#begin(kind, request, price === null ? asked : { ...asked, price })
  }

  /** Starts a run that keepup's own agent has delegated. One that cannot be started is ended in the log. */
  async take(agentId: string, about: Hidden, desk?: ToolDesk): Promise<AgentRunHandle> {
    const { log, hide } = await this.#host.log()
    const state = await log.state(agentId)
    if (state === null) throw new Error(`there is no run ${agentId}`)
    const { backend, request } = state
    try {
      const files = await this.#filesOf(request.workingDir, about)
      return await this.#hold(agentId, async () => {
        const gateway = await this.#host.gateway({ prompt: request.prompt }, about)
        const more = { ...(files !== undefined && { files }), ...(desk !== undefined && { desk }) }
        return gateway.take(backend, agentId, request, more)
      })
    } catch (error) {
      const { code, message } = error as AgentError
      // A failing log is no failure of the agent: it is tried again.
      if (!(error instanceof AgentError)) throw error
      await log.refuse(agentId, { code: code === 'UnsupportedCapability' ? code : 'Backend', message: hide(message) })
      throw error
    }
  }

  async #filesOf(folder: string | undefined, about: Hidden): Promise<HeldFiles | undefined> {
    if (folder === undefined) return undefined
    try {
      return await this.#host.share(folder, about)
    } catch (cause) {
      throw new AgentError('Backend', `the working folder cannot be used: ${(cause as Error).message}`, { cause })
    }
  }

  async #begin(kind: string, request: AgentRunRequest, asked: StartedBy): Promise<AgentRunHandle> {
    const gateway = await this.#host.gateway(request)
    const { agentId = this.#host.newId() } = asked
    return this.#hold(agentId, () => gateway.run(kind, request, { ...asked, agentId }))
  }

  async #hold(agentId: string, begin: () => Promise<AgentRunHandle>): Promise<AgentRunHandle> {
    if (this.#closing) throw new Error('this process is ending, so no agent is started; ask another one')
    const { lease, clock } = this.#host
    const work = Promise.withResolvers<void>()
    // Held before the start is recorded, lest another process take it for one that was left behind.
    if (lease !== undefined) await hold(lease, agentId, clock, work.promise)
    let handle: AgentRunHandle
    try {
      handle = await begin()
    } catch (error) {
      work.resolve()
      throw error
    }
    handle.completion.then(
      () => work.resolve(),
      () => work.resolve(),
    )
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

  async recorded(agentId: string): Promise<RecordedRun | null> {
    return (await this.#host.log()).log.recorded(agentId)
  }

  async stop(agentId: string, reason: string): Promise<void> {
    const here = this.at(agentId)
    if (here !== undefined) {
      here.cancel(reason)
      await here.completion.catch(() => undefined)
      return
    }
    const { log, hide } = await this.#host.log()
    const state = await log.state(agentId)
    if (state === null || isFinished(state)) return
    const by = { kind: 'system', id: 'runtime' } as const
    await log.ask(agentId, { kind: 'cancel', reason: hide(reason) }, { by, commandId: `${agentId}.stop` })
  }

  /** The log of their runs. */
  log() {
    return this.#host.log()
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

/** The runs of other agents of this process. Rejects with `UNKNOWN_AGENT` where it has none. */
export function agentsOf({ agents }: { readonly agents: Agents | null }): Agents {
  if (agents !== null) return agents
  throw new Problem('UNKNOWN_AGENT', 'this keepup runs no other agents; ask the process that owns the data folder')
}
