import type { Actor } from '../../log/envelope.ts'
import type {
  AgentBackend,
  AgentCompletion,
  ExternalRunLog,
  HeldFiles,
  Hiding,
  PermissionAsked,
} from '../../ports/external.ts'
import type { Clock } from '../../ports/index.ts'
import type { ToolDesk } from '../../ports/runtime.ts'
import { Mutex } from '../../stream/runtime/concurrency.ts'
import { boundData, boundFinalText, boundMessage } from '../bounds.ts'
import type { Confinement } from '../confinement.ts'
import { AgentError, CANCELLED } from '../errors.ts'
import type { Outcome } from '../outcome.ts'
import type { AgentRunRequest } from '../request.ts'
import { nextAskId } from '../state.ts'
import { GivenTools } from './given-tools.ts'
import { Recorder } from './recorder.ts'
import { RunHandle } from './run-handle.ts'
import { versionAfter } from './versions.ts'

export interface RunOptions {
  readonly backend: AgentBackend
  readonly request: AgentRunRequest
  readonly log: ExternalRunLog
  readonly clock: Clock
  readonly hiding: Hiding | null
  /** Absent: no version of the files is stored. */
  readonly files?: HeldFiles
  /** Absent: the agent cannot call keepup's tools. */
  readonly desk?: ToolDesk
  /** The recorded confinement. Absent: the backend starts no process. */
  readonly confinement?: Confinement
}

type Settled = { readonly outcome: Outcome; readonly value: AgentCompletion | AgentError }

/** The maximum number of open permission requests. Further ones are rejected. */
const MOST_OPEN = 32
/** How often a run checks for events from other processes, in ms. */
const LOOK_MS = 1_000

/** A run in progress. Records the reports of its backend; consumers read them from the log. */
export class ExternalRun extends RunHandle {
  readonly agentId: string
  readonly agentKind: string
  readonly #options: RunOptions
  readonly #abort = new AbortController()
  readonly #recorder: Recorder
  readonly #tools: GivenTools | undefined
  /** Serialises the agent's requests, because each gets its number when it is recorded. */
  readonly #asking = new Mutex()
  /** Resolvers of the open permission requests, by id. */
  readonly #questions = new Map<string, (decision: 'approved' | 'rejected' | null) => void>()

  constructor(options: RunOptions) {
    super()
    const { log, clock, hiding, desk } = options
    this.#options = options
    this.agentId = log.agentId
    this.agentKind = options.backend.kind
    this.#recorder = new Recorder({
      log,
      clock,
      hiding,
      onRecorded: () => {
        this.wake()
        this.#onNews()
      },
      onFailure: () => this.#abort.abort(),
    })
    if (desk !== undefined) {
      this.#tools = new GivenTools({
        log,
        desk,
        recorder: this.#recorder,
        asking: this.#asking,
        onFailure: () => this.#abort.abort(),
      })
      this.#abort.signal.addEventListener('abort', () => void this.#tools?.stop(), { once: true })
    }
    void this.#perform()
    if (log.shared) void this.#listen()
  }

  get runId(): string {
    return this.#options.log.state.runId
  }

  get sessionId(): string | null {
    return this.#options.log.state.sessionId
  }

  notice(): void {
    // The next append reports the error.
    this.#options.log.look().then(
      () => this.#onNews(),
      () => undefined,
    )
  }

  cancel(reason?: string, by?: Actor): void {
    if (this.settled || this.#abort.signal.aborted) return
    const said = reason === undefined || reason === '' ? {} : { reason: this.#recorder.hideText(reason) }
    // The completion reports a failure of the log.
    if (this.ended === null)
      this.#recorder.append([{ kind: 'cancel', ...said, ...(by !== undefined && { by }) }]).catch(() => undefined)
    this.#abort.abort(new AgentError('Backend', CANCELLED))
  }

  read(from: number) {
    return this.#options.log.read(from)
  }

  /** Acts on new events: ends the process after a cancel, and passes on decisions. */
  #onNews(): void {
    const { cancelledAt, permissions } = this.#options.log.state
    const over = cancelledAt !== null || this.#options.log.lost
    // After another driver claimed the run, its record is the valid one. End the process, because nothing records its
    // actions.
    if (over && this.ended === null && !this.#abort.signal.aborted)
      this.#abort.abort(new AgentError('Backend', CANCELLED))
    for (const { toolCallId, decision } of permissions.last) {
      if (decision === null) continue
      this.#questions.get(toolCallId)?.(decision)
      this.#questions.delete(toolCallId)
    }
    this.#tools?.notice()
  }

  /** Polls for events that other processes append to the run. */
  async #listen(): Promise<void> {
    const { clock, log } = this.#options
    while (this.ended === null) {
      await clock.sleep(LOOK_MS)
      await log.look().catch(() => undefined)
      this.#onNews()
    }
  }

  async #ask({ tool, title, input }: PermissionAsked): Promise<'approved' | 'rejected' | null> {
    if (this.#abort.signal.aborted) return null
    const answer = Promise.withResolvers<'approved' | 'rejected' | null>()
    this.#abort.signal.addEventListener('abort', () => answer.resolve(null), { once: true })
    const hidden = this.#recorder.hide({
      toolName: tool || 'tool',
      reason: boundMessage(title),
      input: boundData(input),
    })
    await this.#asking.run(async () => {
      if (this.#questions.size >= MOST_OPEN) return answer.resolve('rejected')
      const id = nextAskId(this.#options.log.state)
      this.#questions.set(id, answer.resolve)
      await this.#recorder.record([{ kind: 'permission', toolCallId: id, ...hidden }])
    })
    this.#onNews()
    return answer.promise
  }

  #answerAll(): void {
    for (const answer of this.#questions.values()) answer(null)
    this.#questions.clear()
  }

  async #perform(): Promise<void> {
    const { outcome, value } = await this.#outcome()
    this.#answerAll()
    await this.#tools?.stop()
    let result = value
    let failure: Error | null = null
    try {
      const versioned = await versionAfter(this.#options.files)
      await this.#recorder.finish([...versioned, { kind: 'end', outcome }])
    } catch (cause) {
      failure = new AgentError('Backend', `the run could not be recorded: ${(cause as Error).message}`, { cause })
      result = failure as AgentError
      await this.#endUnrecorded()
    }
    this.#tools?.close()
    this.#options.files?.release()
    this.end(result, failure)
  }

  /**
   * The log may refuse a backend's reports and still accept the end of the run. Without an end, the run would appear
   * active forever.
   */
  async #endUnrecorded(): Promise<void> {
    const error = { code: 'Backend', message: 'its reports could not be recorded' } as const
    await this.#options.log
      .append([{ kind: 'end', outcome: { outcome: 'failed', exit: null, error } }])
      .catch(() => undefined)
  }

  async #outcome(): Promise<Settled> {
    const { backend, request, confinement } = this.#options
    const run = {
      agentId: this.agentId,
      signal: this.#abort.signal,
      emit: this.#recorder.emit.bind(this.#recorder),
      ask: (asked: PermissionAsked) => this.#ask(asked),
      ...(this.#tools !== undefined && { tools: this.#tools }),
      ...(confinement !== undefined && { confined: confinement.confined }),
    }
    try {
      return this.#exited(await backend.start(request, run))
    } catch (error) {
      return this.#failed(error)
    }
  }

  /**
   * A non-zero exit resolves the completion with that status, `success` false and no final text, and records an Error
   * event.
   */
  #exited({ status, success, finalText }: AgentCompletion): Settled {
    const zero = status.code === 0
    if (!zero) {
      const how = status.code === null ? `was ended by ${status.signal}` : `ended with exit code ${status.code}`
      void this.#recorder
        .emit({ events: [{ kind: 'Error', message: `${this.agentKind} ${how}` }] })
        ?.catch(() => undefined)
    }
    const succeeded = success && zero
    const text = succeeded && finalText !== null ? boundFinalText(this.#recorder.hideText(finalText)) : null
    return {
      outcome: { outcome: 'exited', exit: status, success: succeeded, finalText: text },
      value: { status, success: succeeded, finalText: text },
    }
  }

  #failed(error: unknown): Settled {
    // The message of any other error may contain a line of the process.
    const told = error instanceof AgentError ? error : new AgentError('Backend', 'the backend has a fault')
    const { exit } = told
    const message = boundMessage(this.#recorder.hideText(told.message))
    const cancelled = told.code === 'Backend' && told.message === CANCELLED
    const code = told.code === 'UnsupportedCapability' ? told.code : 'Backend'
    if (code === 'UnsupportedCapability')
      void this.#recorder.emit({ events: [{ kind: 'Error', message }] })?.catch(() => undefined)
    return {
      outcome: cancelled ? { outcome: 'cancelled', exit } : { outcome: 'failed', exit, error: { code, message } },
      value: new AgentError(code, message, exit === null ? {} : { exit }),
    }
  }
}
