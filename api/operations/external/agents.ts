import type { Policy } from '../../../domain/calls/policy-schema.ts'
import { AgentError } from '../../../domain/external/errors.ts'
import type { RecordedRequest } from '../../../domain/external/events.ts'
import type { Hosting } from '../../../domain/external/hosted/events.ts'
import type { HostedKind } from '../../../domain/external/hosted/state.ts'
import type { AgentGateway } from '../../../domain/external/runtime/gateway.ts'
import { HostedRun } from '../../../domain/external/runtime/hosted-run.ts'
import type { ReportedRuns } from '../../../domain/external/runtime/reported-runs.ts'
import type { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { isRunOver } from '../../../domain/external/state.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
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
import type { AgentSpec, Price } from '../../../domain/tree/spec.ts'
import { Problem } from '../problem.ts'
import type { AgentsAllowed } from './agents-allowed.ts'
import { type AgentLease, hold, withLease } from './leases.ts'

/** The run whose secrets and secret patterns are hidden. */
type Hidden = Pick<AgentSpec, 'secrets' | 'policy'>

/** A run that a program hosts. `prompt`: what it is about. The recorded rules stay in force when it is opened again. */
export interface HostRequest extends Pick<Hosting, 'policy' | 'effects'> {
  readonly kind: HostedKind
  readonly agentId: string
  readonly prompt: string
  readonly extensions?: RecordedRequest['extensions']
  readonly by: Actor
}

/** The services of a host that runs external agents. */
export interface AgentsHost {
  readonly backends: readonly AgentBackend[]
  /** The values that requests over the network may pass to agents. */
  readonly allowed: AgentsAllowed
  readonly clock: Clock
  newId(): string
  /** Absent: this process is the only driver. */
  readonly lease?: AgentLease
  /** A gateway for one run. It hides present secrets and the values of the request's environment. */
  gateway(request: AgentRunRequest, about?: Hidden): Promise<AgentGateway>
  /** The files of a folder that another run has locked, for storing versions of them. */
  share(folder: string, about: Hidden): Promise<HeldFiles>
  /** The price of a model by the agent's name for it. Null: not known. */
  price(model: string): Price | null
  /** Runs that programs report over OTLP. */
  readonly reports: ReportedRuns
  /** The log of the agents' runs. It hides secrets and matches of the secret patterns of `policy`. */
  log(policy?: Policy): Promise<{
    readonly log: StreamExternalLog
    hide(text: string): string
    /** Redacts a value for recording, also inside strings that are JSON. On return, the references are stored. */
    hideValue(value: Json): Promise<Json>
  }>
  /** Records the end of runs that an earlier process of this data folder left unfinished. Returns their number. */
  settle(): Promise<number>
}

/** How long a program's state is cached, in ms, so that a page with agents does not start programs each time. */
const INSPECTED_MS = 10_000

/**
 * External agents' runs in this process. keepup's policy does not apply to their actions, so every view marks them as
 * ungoverned.
 */
export class Agents implements ExternalRuns, DelegatedRuns {
  readonly #host: AgentsHost
  readonly #runs = new Map<string, AgentRunHandle>()
  readonly #inspected = new Map<string, { readonly at: number; readonly state: Promise<BackendState> }>()
  /** Serializes starts by run id. */
  readonly starting = new KeyedMutex()
  #closing = false

  constructor(host: AgentsHost) {
    this.#host = host
  }

  get reports(): ReportedRuns {
    return this.#host.reports
  }

  /** The price of a model by the agent's name for it. Null: not known. */
  price(model: string): Price | null {
    return this.#host.price(model)
  }

  get allowed(): AgentsAllowed {
    return this.#host.allowed
  }

  /** The available kinds with their capabilities. */
  list(): readonly { readonly kind: string; readonly capabilities: readonly string[] }[] {
    return this.#host.backends
      .map(({ kind, capabilities }) => ({ kind, capabilities: [...capabilities].sort() }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1))
  }

  /** See `AgentBackend.withoutRights`. Null also for an unknown kind. */
  withoutRights(kind: string, request: AgentRunRequest): string | null {
    return this.#host.backends.find((backend) => backend.kind === kind)?.withoutRights?.(request) ?? null
  }

  /** The state of a kind on this machine, at most {@link INSPECTED_MS} old. Null: unknown kind. */
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

  /** Runs `start` alone among the starts that continue the same run, also those of other processes. */
  continuing<T>(runId: string, start: () => Promise<T>): Promise<T> {
    // No agent can have this name.
    const name = `continue ${runId}`
    return this.starting.run(name, async () => {
      const started: T[] = []
      const isAlone = await withLease(this.#host.lease, name, async () => void started.push(await start()))
      if (!isAlone)
        throw new AgentError('InvalidRequest', `another request continues ${runId} right now; look at the run`)
      return started[0]!
    })
  }

  /** Starts a run. Rejects like `AgentGateway.run`. */
  async run(kind: string, request: AgentRunRequest, asked: StartedBy = {}): Promise<AgentRunHandle> {
    // The request may not be an object yet: the gateway validates it after the kind.
    const model = request?.extensions?.['agent_api.config.model.v1']
    const price = typeof model === 'string' ? this.#host.price(model) : null
    return this.#begin(kind, request, price === null ? asked : { ...asked, price })
  }

  /** Starts a run that this program hosts, or continues it. Rejects with `RUN_EXISTS` if another kind of agent has the run. */
  async host({ kind, agentId, prompt, extensions, by, policy, effects }: HostRequest): Promise<HostedRun> {
    const recorded = await (await this.#host.log()).log.state(agentId)
    const { log, hideValue } = await this.#host.log(recorded?.tools?.spec.policy ?? policy)
    const asked = { prompt, ...(extensions !== undefined && { extensions }) }
    const request = (await hideValue(asked as Json)) as unknown as RecordedRequest
    const start = { kind: 'start', backend: kind, request, capabilities: [], hosting: { policy, effects } } as const
    return this.#hold(agentId, async () =>
      HostedRun.open({
        log: await log.host(start, { agentId, by }),
        history: log.history(agentId),
        clock: this.#host.clock,
        hide: hideValue,
        price: (model) => this.#host.price(model),
      }),
    )
  }

  /** Starts a run that keepup's own agent has delegated. If it fails to start, the log records its end. */
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
      // A failure of the log is not a failure of the agent. The caller retries.
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

  async #hold<Handle extends AgentRunHandle>(agentId: string, begin: () => Promise<Handle>): Promise<Handle> {
    if (this.#closing) throw new Error('this process is ending, so no agent is started; ask another one')
    const { lease, clock } = this.#host
    const work = Promise.withResolvers<void>()
    // Take the lease before the start is recorded. Otherwise another process could treat the run as abandoned.
    if (lease !== undefined) await hold(lease, agentId, clock, work.promise)
    let handle: Handle
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
    const earlier = this.#runs.get(agentId)
    this.#runs.set(agentId, handle)
    const forget = () => {
      if (this.#runs.get(agentId) === handle) this.#runs.delete(agentId)
    }
    handle.completion.then(forget, forget)
    // A program has opened its run again, and the log takes no more facts from the earlier handle.
    await earlier?.[Symbol.asyncDispose]()
    // The process began to close while the start was recorded.
    if (this.#closing) void handle[Symbol.asyncDispose]()
    return handle
  }

  /** A run in progress in this process. */
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
    if (state === null || isRunOver(state)) return
    const by = { kind: 'system', id: 'runtime' } as const
    await log.ask(agentId, { kind: 'cancel', reason: hide(reason) }, { by, commandId: `${agentId}.stop` })
  }

  log() {
    return this.#host.log()
  }

  settle(): Promise<number> {
    return this.#host.settle()
  }

  /** Cancels the runs in this process. Resolves when their processes have ended and the log records it. */
  async close(): Promise<void> {
    this.#closing = true
    await Promise.all([...this.#runs.values()].map((handle) => handle[Symbol.asyncDispose]()))
  }
}

/** The external agents of this process. Throws `UNKNOWN_AGENT` if it has none. */
export function externalAgents({ agents }: { readonly agents: Agents | null }): Agents {
  if (agents !== null) return agents
  throw new Problem('UNKNOWN_AGENT', 'this keepup runs no other agents; ask the process that owns the data folder')
}
