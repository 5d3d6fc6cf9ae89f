import { CANCELLED } from '../../../domain/external/errors.ts'
import { ProviderError } from '../../../domain/external/spawn/errors.ts'
import type { ExternalState } from '../../../domain/external/state.ts'
import { effectId, spawnedRunId } from '../../../domain/log/ids.ts'
import type {
  AgentRunHandle,
  AgentRunRequest,
  ExternalRuns,
  RecordedRun,
  StartedBy,
} from '../../../domain/ports/external.ts'
import type { ExecutionParams, ExecutionResult, LLMProvider, RunName } from '../../../domain/ports/spawn.ts'
import { MCP, MODE } from './claude-code.ts'
import { budgetFromDollars, executed, executionError, notResumable, startError } from './claude-execution.ts'
import { servedFunctions } from './function-config.ts'
import { HeardRun } from './recorded-run.ts'

/** The settings of a {@link ClaudeCodeProvider}. */
export interface ClaudeCodeProviderOptions {
  /** Performs and records the runs. `openKeepUp` returns such an object. */
  readonly keepup: { readonly externalRuns: ExternalRuns }
  /** The agents' working folder. Absent: the current folder of this process. */
  readonly workingDir?: string
  readonly env?: Readonly<Record<string, string>>
  /** The time limit of an attempt. Default: 30 minutes. */
  readonly timeoutMs?: number
  /** The budget of an attempt, in dollars. */
  readonly maxBudgetUsd?: number
  readonly permissionMode?: string
}

const KIND = 'claude_code'
const TIMEOUT_MS = 30 * 60_000
const VERSION = '1'
const GO_ON = 'You were interrupted. Go on with your task and return the result.'

type Asked = Omit<ExecutionParams, 'prompt'>
/** The position of a spawned agent in its run's tree. */
interface Place {
  readonly agentId: string
  readonly runId: string
  readonly depth: number
  children: number
}

/**
 * Runs `claude -p` once per call and waits for it (seed 004). Each run is recorded like a run of any other agent:
 * redacted, and visible in lineage, usage and replay.
 */
export class ClaudeCodeProvider implements LLMProvider {
  readonly #options: ClaudeCodeProviderOptions
  readonly #places = new Map<string, Place>()
  /** The number of active runs. The first run takes the lock of the working folder; concurrent runs share it. */
  #atWork = 0

  constructor(options: ClaudeCodeProviderOptions) {
    this.#options = options
  }

  /**
   * Rejects with a ProviderError: exited with code N, failed to parse, failed to spawn, timed out. Rejects with a
   * SpawnError `DUPLICATE_AGENT` if a run with this name exists from before a crash.
   */
  execute(params: ExecutionParams): Promise<ExecutionResult> {
    const { name, attempt = 1 } = params
    return this.#start(params.prompt, params, name && spawnedRunId(name.store, name.agentId, attempt), {})
  }

  async resume(params: Asked & { readonly name: RunName }): Promise<ExecutionResult> {
    const { name } = params
    const { run, next } = await this.#last(name)
    if (run === null) throw notResumable(name, 'was not started')
    const { state } = run
    const here = this.#runs.at(state.agentId)
    if (here !== undefined) return this.#wait(here, params, performance.now())
    if (state.stage.at !== 'ended') throw notResumable(name, 'is at work in another process')
    if (run.outcome?.outcome === 'exited' && run.outcome.success) return this.#recorded(run, run.outcome.finalText)
    if (state.sessionId === null) throw notResumable(name, 'has no session that could go on')
    const session = { 'agent_api.session.resume.v1': { selector: 'id', id: state.sessionId } } as const
    return this.#start(GO_ON, params, spawnedRunId(name.store, name.agentId, next), session)
  }

  async end(name: RunName): Promise<boolean> {
    const { run } = await this.#last(name)
    if (run === null || run.state.stage.at === 'ended') return false
    await this.#runs.stop(run.state.agentId, 'ended by name')
    return true
  }

  get #runs(): ExternalRuns {
    return this.#options.keepup.externalRuns
  }

  /** The last recorded attempt of a name, and the number of the next attempt. */
  async #last({ store, agentId }: RunName): Promise<{ readonly run: RecordedRun | null; readonly next: number }> {
    let run: RecordedRun | null = null
    for (let attempt = 1; ; attempt++) {
      const found = await this.#runs.recorded(spawnedRunId(store, agentId, attempt))
      if (found === null) return { run, next: attempt }
      run = found
    }
  }

  async #start(
    prompt: string,
    params: Asked,
    agentId: string | undefined,
    more: AgentRunRequest['extensions'] & object,
  ): Promise<ExecutionResult> {
    if (params.signal?.aborted) throw new ProviderError('CANCELLED', CANCELLED)
    const { functions, agentId: name } = params
    const served = functions && (await servedFunctions(name ?? '', functions, VERSION))
    this.#atWork++
    try {
      const request = this.#request(prompt, params, { ...more, ...(served && { [MCP]: served.mcp }) })
      const started = performance.now()
      const handle = await this.#begin(request, params, agentId)
      return await this.#wait(handle, params, started)
    } finally {
      this.#atWork--
      await served?.close()
    }
  }

  #request(prompt: string, params: Asked, more: AgentRunRequest['extensions'] & object): AgentRunRequest {
    const { workingDir, env = {}, timeoutMs = TIMEOUT_MS, permissionMode } = this.#options
    const mode = params.permissionMode ?? permissionMode
    const extensions = {
      ...(params.model !== undefined && { 'agent_api.config.model.v1': params.model }),
      ...(mode === 'bypassPermissions' && { 'agent_api.exec.external_sandbox.v1': true }),
      ...(mode !== undefined && mode !== 'bypassPermissions' && { [MODE]: mode }),
      ...more,
    }
    // If the runtime repeats attempts, the program must not retry: its own retries would look like a hang.
    const all = { ...(params.retried === true && { CLAUDE_CODE_MAX_RETRIES: '0' }), ...env }
    return {
      prompt,
      ...(workingDir !== undefined && { workingDir }),
      timeoutMs: params.timeoutMs ?? timeoutMs,
      ...(Object.keys(all).length > 0 && { env: all }),
      extensions: extensions as AgentRunRequest['extensions'] & object,
    }
  }

  async #begin(request: AgentRunRequest, params: Asked, agentId: string | undefined): Promise<AgentRunHandle> {
    const { agentId: name, parentId } = params
    const usd = params.maxBudgetUsd ?? this.#options.maxBudgetUsd
    const parent = parentId === undefined ? undefined : this.#places.get(parentId)
    const asked: StartedBy = {
      ...(agentId !== undefined && { agentId }),
      ...(this.#atWork > 1 && { sharesFolder: true }),
      ...(name !== undefined && { name }),
      ...(usd !== undefined && { budget: budgetFromDollars(usd) }),
      ...(parent !== undefined && {
        parent: {
          ...{ agentId: parent.agentId, runId: parent.runId, depth: parent.depth + 1 },
          toolCallId: effectId(`${parent.agentId}.spawn`, parent.children++),
        },
      }),
    }
    try {
      const handle = await this.#runs.run(KIND, request, asked)
      const place = {
        agentId: handle.agentId,
        runId: parent?.runId ?? handle.agentId,
        depth: (parent?.depth ?? -1) + 1,
      }
      if (name !== undefined) this.#places.set(name, { ...place, children: 0 })
      return handle
    } catch (error) {
      throw startError(error, name)
    }
  }

  async #wait(handle: AgentRunHandle, { signal, timeoutMs }: Asked, started: number): Promise<ExecutionResult> {
    const cancel = () => handle.cancel('cancelled')
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) cancel()
    const heard = new HeardRun()
    try {
      for await (const event of handle.events) heard.hear(event)
      const completion = await handle.completion
      const state = await this.#stateOf(handle.agentId)
      return { ...executed(completion, state, heard), durationMs: Math.round(performance.now() - started) }
    } catch (error) {
      if (error instanceof ProviderError) throw error
      throw executionError(
        error,
        await this.#stateOf(handle.agentId),
        heard,
        timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS,
      )
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  async #stateOf(agentId: string): Promise<ExternalState | null> {
    return (await this.#runs.recorded(agentId).catch(() => null))?.state ?? null
  }

  async #recorded({ state, events }: RecordedRun, finalText: string | null): Promise<ExecutionResult> {
    const heard = new HeardRun()
    for await (const event of events) heard.hear(event)
    return executed({ status: { code: 0, signal: null }, success: true, finalText }, state, heard)
  }
}
