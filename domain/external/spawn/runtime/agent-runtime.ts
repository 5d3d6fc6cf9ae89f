import { messageOf } from '../../../calls/thrown-errors.ts'
import type { Clock } from '../../../ports/index.ts'
import type {
  ExecutionParams,
  ExecutionResult,
  LLMProvider,
  OfferedFunctions,
  ResultMemory,
} from '../../../ports/spawn.ts'
import type { IContextStore } from '../../../ports/variables.ts'
import { endingWith } from '../../../stream/runtime/time-limit.ts'
import {
  type Agent,
  type AgentConfig,
  type AgentMove,
  type AgentResult,
  type AgentStatus,
  checkConfig,
  created,
  isOver,
  moved,
  resultKey,
} from '../agent.ts'
import { ProviderError, SpawnError } from '../errors.ts'
import { cutTo, SUMMARY_CHARACTERS } from '../merge.ts'
import { buildPrompt } from '../prompt.ts'
import { NO_RETRIES, type RetryPolicy, retryDelay } from '../retry-policy.ts'
import { AttemptReports, systemClock } from './attempts.ts'

/** The parts of an {@link AgentRuntime}. */
export interface AgentRuntimeOptions {
  readonly provider: LLMProvider
  readonly store: IContextStore
  /** Called with progress messages. Errors that it throws are ignored. */
  readonly onLog?: (agentId: string, message: string) => void
  /** Absent: no retries. */
  readonly retry?: Partial<RetryPolicy>
  /** Receives an episode for each completed or failed agent. */
  readonly memory?: ResultMemory
  /** The functions for the subprocess. */
  readonly functions?: OfferedFunctions
  readonly clock?: Clock
  /** Returns a number in [0, 1) that spreads retries. */
  readonly jitter?: () => number
}

/** How long to wait for a cancelled provider, in ms. Its process has received SIGTERM and SIGKILL before this time. */
const GIVEN_UP_MS = 15_000

interface Running {
  agent: Agent
  readonly abort: AbortController
  /** Settles when the provider settles. */
  over: Promise<unknown>
}

/**
 * Creates agents and runs each with one provider call (seed 004). The agent loop is inside the process that the
 * provider starts.
 */
export class AgentRuntime {
  readonly #options: AgentRuntimeOptions
  readonly #clock: Clock
  readonly #agents = new Map<string, Running>()

  constructor(options: AgentRuntimeOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  get store(): IContextStore {
    return this.#options.store
  }

  /**
   * Creates an idle agent. The runtime updates the returned object on every change. Throws `INVALID_AGENT`,
   * `DUPLICATE_AGENT`.
   */
  create(config: AgentConfig): Agent {
    checkConfig(config)
    if (this.#agents.has(config.id)) throw duplicate(config.id, 'was created before')
    const agent = created({ ...config })
    this.#agents.set(config.id, { agent, abort: new AbortController(), over: Promise.resolve() })
    return agent
  }

  getStatus(id: string): AgentStatus {
    return this.#running(id).agent.status
  }

  /** Undefined: the agent does not exist. */
  getAgent(id: string): Agent | undefined {
    return this.#agents.get(id)?.agent
  }

  /**
   * Runs an agent to its end. A failure of the provider does not reject: the status is `failed`, the result `{error}`.
   * Rejects with `RUN_TWICE`. Rejects with `DUPLICATE_AGENT` if the store has a result for the id, or a crash left a
   * run of it. Rejects if the store fails.
   */
  async run(agent: Pick<Agent, 'id'>): Promise<AgentResult> {
    const running = this.#running(agent.id)
    const { config, cancelled, status } = running.agent
    if (!cancelled && status === 'idle' && (await this.#isStored(agent.id)))
      throw duplicate(agent.id, 'has a result in this store; resume it')
    return this.#perform(running, async (told) => {
      const prompt = await this.#prompt(config)
      return this.#attempts(running, told, (params) => this.#options.provider.execute({ prompt, ...params }))
    })
  }

  /**
   * Resumes an agent after a crash. Returns the stored result if one exists; else takes the recorded outcome, or
   * continues the same session.
   */
  async resume(config: AgentConfig): Promise<AgentResult> {
    const { provider, store } = this.#options
    const running = this.#running(this.create(config).id)
    const { id } = running.agent
    if (await this.#isStored(id)) {
      const result = await store.get(resultKey(id))
      this.#move(running, { move: 'run' })
      this.#move(running, { move: 'ended', status: typeof result === 'string' ? 'completed' : 'failed', result })
      return new AttemptReports().result(running.agent)
    }
    const name = this.#name(id)
    const resumed = provider.resume?.bind(provider)
    return this.#perform(running, (told) => {
      if (name === undefined || resumed === undefined) throw notResumable(id)
      return this.#attempts(running, told, (params) => resumed({ ...params, name }))
    })
  }

  /**
   * After a crash: ends the remaining run of an agent and stores `reason` as its result. False: the agent has a result.
   */
  async end(id: string, reason = 'ended after a crash'): Promise<boolean> {
    const { provider, store } = this.#options
    const name = this.#name(id)
    if (name !== undefined) await provider.end?.(name)
    if (await this.#isStored(id)) return false
    await store.set(resultKey(id), { error: reason })
    return true
  }

  /** Before the run: the provider is not called. During the run: ends the process and discards a late result. */
  async cancel(id: string): Promise<void> {
    const running = this.#running(id)
    if (isOver(running.agent)) return
    this.#move(running, { move: 'cancel' })
    this.#log(id, 'cancelled')
    running.abort.abort(new ProviderError('CANCELLED', 'cancelled'))
    await running.over.catch(() => undefined)
  }

  async #perform(running: Running, work: (told: AttemptReports) => Promise<ExecutionResult>): Promise<AgentResult> {
    this.#move(running, { move: 'run' })
    const told = new AttemptReports()
    if (running.agent.cancelled) return told.result(running.agent)
    this.#log(running.agent.id, 'running')
    const execution = (async () => work(told))()
    running.over = execution
    const ended = await execution.then(
      (done) => {
        told.done(done)
        return { status: 'completed', result: done.result } as const
      },
      (error) =>
        ({ status: 'failed', result: { error: messageOf(error) }, refused: refusalOf(error, running.agent) }) as const,
    )
    this.#move(running, { move: 'spent', tokenUsage: told.tokenUsage })
    this.#move(running, { move: 'ended', status: ended.status, result: ended.result })
    if ('refused' in ended && ended.refused !== null && !running.agent.cancelled) throw ended.refused
    if (!running.agent.cancelled) await this.#keep(running.agent, told.runId)
    return told.result(running.agent)
  }

  async #attempts(
    { agent, abort: { signal } }: Running,
    told: AttemptReports,
    execute: (params: Omit<ExecutionParams, 'prompt'>) => Promise<ExecutionResult>,
  ): Promise<ExecutionResult> {
    const { functions, jitter = Math.random } = this.#options
    const policy = { ...NO_RETRIES, ...this.#options.retry }
    const { model, parentId, maxBudgetUsd, permissionMode, timeoutMs } = agent.config
    const name = this.#name(agent.id)
    const offered = functions !== undefined && functions.list().length > 0
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      this.#move(this.#running(agent.id), { move: 'attempt' })
      const params = {
        ...{ model, signal, agentId: agent.id, attempt, retried: policy.maxRetries > 0 },
        ...(parentId !== undefined && { parentId }),
        ...(maxBudgetUsd !== undefined && { maxBudgetUsd }),
        ...(permissionMode !== undefined && { permissionMode }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(name !== undefined && { name }),
        ...(offered && { functions }),
      }
      try {
        return await endingWith(this.#clock, GIVEN_UP_MS, 'the provider', signal, execute(params))
      } catch (error) {
        told.failed(error)
        const delay = signal.aborted ? null : retryDelay(policy, attempt, error, jitter())
        if (delay === null) throw error
        this.#log(agent.id, `attempt ${attempt} failed (${messageOf(error)}); the next one follows in ${delay} ms`)
        await this.#clock.sleep(delay, signal)
      }
    }
  }

  async #prompt({ prompt, contextRef, parentId }: AgentConfig): Promise<string> {
    const { store, functions } = this.#options
    // Read the store again: the reference may be outdated.
    const ref = contextRef === undefined ? undefined : await store.ref(contextRef.key)
    return buildPrompt({
      prompt,
      ...(ref !== undefined && { context: { ref, summary: await store.summarize(ref) } }),
      ...(parentId !== undefined && { parentId }),
      ...(functions !== undefined && { functions: functions.list() }),
    })
  }

  async #isStored(id: string): Promise<boolean> {
    const wanted = resultKey(id)
    return (await this.#options.store.list(wanted)).some(({ key }) => key === wanted)
  }

  async #keep({ id, config, status, result }: Agent, runId: string | null): Promise<void> {
    const { store, memory } = this.#options
    await store.set(resultKey(id), result ?? null, runId === null ? {} : { runId })
    this.#log(id, status)
    if (memory === undefined) return
    const outcome = typeof result === 'string' ? result : JSON.stringify(result)
    await memory.append({
      ...{ agentId: id, status: status as 'completed' | 'failed', at: this.#clock.now() },
      task: cutTo(config.prompt, SUMMARY_CHARACTERS),
      outcome: cutTo(outcome, SUMMARY_CHARACTERS),
    })
  }

  #name(agentId: string) {
    const { name } = this.#options.store
    return name == null ? undefined : { store: name, agentId }
  }

  #running(id: string): Running {
    const running = this.#agents.get(id)
    if (running !== undefined) return running
    throw new SpawnError('UNKNOWN_AGENT', `there is no agent "${id}" in this runtime; create it first`)
  }

  /** Updates the object that `create` returned. */
  #move({ agent }: Running, move: AgentMove): void {
    Object.assign(agent, moved(agent, move))
  }

  #log(id: string, message: string): void {
    try {
      this.#options.onLog?.(id, message)
    } catch {
      // An error of a listener ends no agent.
    }
  }
}

/**
 * The error if the provider did not start this agent. In this case nothing is stored, so the agent can be resumed or
 * ended. Any other SpawnError, such as the refusal of a child, is a failure of the agent.
 */
const refusalOf = (error: unknown, { id }: Agent): SpawnError | null =>
  error instanceof SpawnError && error.notBegun === id ? error : null

const notResumable = (id: string) =>
  new SpawnError('NOT_RESUMABLE', 'this store or this provider keeps nothing over a crash; run it under a new id', {
    notBegun: id,
  })
const duplicate = (id: string, why: string) => new SpawnError('DUPLICATE_AGENT', `"${id}" ${why}; or use another id`)
