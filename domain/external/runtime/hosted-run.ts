import type { Usage } from '../../calls/content.ts'
import { ToolError } from '../../calls/errors.ts'
import { argumentsHash } from '../../calls/plan-calls.ts'
import { canonicalText } from '../../log/canonical.ts'
import type { Actor, SealedEvent } from '../../log/envelope.ts'
import { saltedHash } from '../../log/ids.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import { unsalted } from '../../log/seal.ts'
import type { ExternalRunLog } from '../../ports/external.ts'
import type { Clock } from '../../ports/index.ts'
import { Mutex } from '../../stream/runtime/concurrency.ts'
import { cost } from '../../tree/money.ts'
import type { Price } from '../../tree/spec.ts'
import type { AgentEventBody } from '../agent-event.ts'
import { boundEvent, boundFinalText, boundMessage } from '../bounds.ts'
import { AgentError, CANCELLED } from '../errors.ts'
import type { ExternalEvent } from '../events.ts'
import { type Approval, type CallEnd, callKey, HostedRecord } from '../hosted/record.ts'
import type { WholeRequest } from '../hosted/requests.ts'
import { type ExternalState, isRunOver, nextAskId } from '../state.ts'
import type { ReportedUsage } from '../usage.ts'
import { RunHandle } from './run-handle.ts'

export interface HostedRunOptions {
  readonly log: ExternalRunLog
  readonly history: AsyncIterable<
    readonly { readonly event: ExternalEvent; readonly recorded: { readonly erased?: boolean } }[]
  >
  readonly clock: Clock
  /** Redacts a value for recording. */
  hide(value: Json): Promise<Json>
  /** The price of a model by the program's name for it. Null: not known. */
  price(model: string): Price | null
}

/** A request to a model, as the program makes it. */
export interface ModelAsked extends WholeRequest {
  readonly provider: string
  readonly model: string
}

export type ModelOutcome =
  | {
      readonly outcome: 'answered'
      readonly answer: Json
      readonly text?: string
      readonly usage?: Usage
      /** The model that answered. */
      readonly model?: string
    }
  | { readonly outcome: 'failed' | 'aborted'; readonly error: unknown }

/** A model call: its recorded answer, or the way to record the outcome of a new call. */
export type ModelCall = { readonly recorded: Json } | { ended(outcome: ModelOutcome): Promise<void> }

/** A tool call as the program makes it. */
export interface ToolAsked {
  /** The provider's id of the call. */
  readonly id: string
  readonly name: string
  readonly input: Json
}

/** A recorded tool call. `id`: keepup's id, which approvals name. */
export interface HostedCall {
  readonly id: string
  readonly key: string
}

/**
 * Whether a call may begin. `by`: the person who approved it; absent: the policy allows it. `waits`: a person has not
 * decided yet. `ended`: it was refused, or it has its outcome.
 */
export type Judgement =
  | { readonly at: 'allowed'; readonly by?: string; readonly reason?: string }
  | { readonly at: 'waits' }
  | { readonly at: 'ended'; readonly end: CallEnd; readonly refused: boolean; readonly by?: string }

/** How often a waiting call checks for events of other processes, in ms. */
const LOOK_MS = 1_000

const utf8 = new TextDecoder()

/** Recorded in place of a result that JSON cannot store, for example a cyclic object. */
const NO_JSON = 'The result of this call is not in the record, because it has no JSON form. The call has happened.'

/** Codes of calls that never began. */
const REFUSALS: ReadonlySet<string> = new Set([
  ...(['APPROVAL_REJECTED', 'APPROVAL_EXPIRED', 'PERMISSION_DENIED', 'INVALID_ARGUMENTS', 'CANCELLED'] as const),
])

/**
 * A run that this program hosts: it runs the agent, and this object records each call before and after it. A call with a
 * recorded outcome is not made again, so the program continues after a crash when it starts from its beginning.
 */
export class HostedRun extends RunHandle {
  readonly agentId: string
  readonly agentKind: string
  readonly #options: HostedRunOptions
  readonly #record = new HostedRecord()
  readonly #abort = new AbortController()
  /** Serialises requests, because each gets its number when it is recorded. */
  readonly #asking = new Mutex()
  /** Model calls that another process has ended: their outcomes are not recorded. */
  readonly #lost = new Set<number>()
  /** Calls that the program has asked about and not begun, by key. */
  readonly #held = new Map<string, HostedCall>()
  readonly #stopListening: () => void
  #released = false

  private constructor(options: HostedRunOptions) {
    super()
    this.#options = options
    const { log } = options
    this.agentId = log.agentId
    this.agentKind = log.state.backend
    this.#stopListening = log.listen((events) => this.#hear(events))
  }

  static async open(options: HostedRunOptions): Promise<HostedRun> {
    const run = new HostedRun(options)
    for await (const page of options.history)
      for (const { event, recorded } of page) run.#record.add(event, recorded.erased === true)
    run.#onNews()
    return run
  }

  get runId(): string {
    return this.state.runId
  }

  get sessionId(): string | null {
    return this.state.sessionId
  }

  get state(): ExternalState {
    return this.#options.log.state
  }

  /** Aborts when a person cancels the run, or when another process has continued it. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  read(from: number) {
    return this.#options.log.read(from)
  }

  notice(): void {
    // The next append reports the error.
    this.#look().catch(() => undefined)
  }

  cancel(reason?: string, by?: Actor): void {
    if (this.#released) return
    const said = reason === undefined || reason === '' ? {} : { reason }
    this.#append([{ kind: 'cancel', ...said, ...(by !== undefined && { by }) }]).catch(() => undefined)
  }

  /** Stops recording here. The run stays open, and a later program continues it. */
  async detach(): Promise<void> {
    if (this.#released) return
    this.#released = true
    await this.#asking.run(async () => this.#stopListening())
    if (this.ended === null) this.end(new AgentError('Backend', 'the program has released the run'), null)
  }

  /** A process that ends does not cancel the runs that it hosts. */
  override async [Symbol.asyncDispose](): Promise<void> {
    await this.detach()
  }

  /** Records the intent of a model call, or gives the recorded answer to the same request. Rejects if the run is over. */
  async model({ provider, model, ...request }: ModelAsked): Promise<ModelCall> {
    const { hide, clock, price } = this.#options
    const whole = (await hide(jsonOf(request))) as unknown as WholeRequest
    const key = saltedHash(this.#salt, canonicalText({ provider, model, ...whole } as unknown as Json))
    const recorded = this.#record.takeAnswer(key)
    if (recorded !== undefined) return { recorded }
    return this.#asking.run(async () => {
      this.#mustGoOn()
      const call = this.state.hosted!.asked
      const told = this.#record.requests.shortened(whole)
      await this.#append([{ kind: 'model_asked', call, key, provider, model: model || 'unknown', request: told }])
      if (!this.state.hosted!.open.some((one) => one.call === call)) throw this.#over()
      this.#record.requests.add(call, told)
      const since = clock.now()
      return {
        ended: async (outcome) => {
          const about = { kind: 'model_ended', call, durationMs: Math.max(0, clock.now() - since) } as const
          if (outcome.outcome !== 'answered') {
            const code = outcome.outcome === 'aborted' ? 'CANCELLED' : 'MODEL_FAILED'
            const error = { code, message: boundMessage(await this.#text(outcome.error)) }
            return this.#append([{ ...about, outcome: outcome.outcome, error }])
          }
          const { text, usage, model: answering = model } = outcome
          const known = usage === undefined ? null : (price(answering) ?? price(model))
          const spent = usage === undefined || known === null ? {} : priced(usage, known)
          const answer = await hide(outcome.answer)
          const shown = text === undefined || text === '' ? {} : { text: boundFinalText(String(await hide(text))) }
          const served = { ...(answering !== '' && { model: answering }), ...(usage !== undefined && { usage }) }
          await this.#append([{ ...about, outcome: 'answered', answer, ...shown, ...served, ...spent }])
          // Nothing may act on an answer that is not recorded.
          if (this.#lost.has(call)) throw this.#over()
        },
      }
    })
  }

  /** Records a tool call with the decision of the policy, or finds the recorded one. */
  async ask({ id: providerId, name, input }: ToolAsked): Promise<HostedCall> {
    const hidden = await this.#options.hide(jsonOf(input))
    const isObject = hidden !== null && typeof hidden === 'object' && !Array.isArray(hidden)
    const args = isObject ? (hidden as JsonObject) : { input: hidden }
    return this.#asking.run(async () => {
      const key = callKey(providerId, name, argumentsHash(this.#salt, args))
      const held = this.#held.get(key)
      if (held !== undefined) return held
      const id = this.#record.takeCall(key) ?? (await this.#request(providerId, name, args))
      const call = { id, key }
      this.#held.set(key, call)
      return call
    })
  }

  async #request(providerId: string, name: string, args: JsonObject): Promise<string> {
    this.#mustGoOn()
    const id = nextAskId(this.state)
    const { asked: index } = this.state.tools!
    const call = { kind: 'call', index, providerId, name, arguments: args, paths: {} } as const
    await this.#append([call, { kind: 'calls_go_on' }])
    if (nextAskId(this.state) === id) throw this.#over()
    return id
  }

  /** Waits until a call may begin or has ended. `wait` false: gives `waits` if a person has to decide. */
  async judged({ id }: HostedCall, { wait = true, signal }: Waiting = {}): Promise<Judgement> {
    const { clock } = this.#options
    for (;;) {
      const approval = this.#record.approvalOf(id)
      const by = approval?.decision === 'approved' ? { by: approval.by } : {}
      const end = this.#record.endOf(id)
      if (end !== undefined) return { at: 'ended', end, refused: REFUSALS.has(end.error?.code ?? ''), ...by }
      const call = this.state.tools?.open.find((one) => one.id === id)
      if (call === undefined || this.#abort.signal.aborted || this.#released) throw this.#over()
      const { stage } = call
      if (stage.at === 'approval') {
        const left = stage.expiresAt - clock.now()
        if (left <= 0) await this.#append([{ kind: 'calls_go_on' }])
        else if (!wait) return { at: 'waits' }
        else await this.#moved(Math.min(left, LOOK_MS), signal)
      } else if (stage.at === 'rejected') await this.#append([{ kind: 'calls_go_on' }])
      else {
        const { reason } = approval ?? {}
        return { at: 'allowed', ...by, ...(reason !== undefined && { reason }) }
      }
    }
  }

  /** Records the intent of a call. Waits for its approval. An `ended` call must not be made. */
  async begin(
    call: HostedCall,
    waiting: Waiting = {},
  ): Promise<Extract<Judgement, { at: 'ended' }> | { readonly at: 'begun' }> {
    const judged = await this.judged(call, waiting)
    this.#held.delete(call.key)
    if (judged.at === 'ended') return judged
    return this.#asking.run(async () => {
      this.#mustGoOn()
      if (!this.#runs(call)) await this.#append([{ kind: 'call_begins', toolCallId: call.id }])
      if (this.#runs(call)) return { at: 'begun' }
      throw this.#over()
    })
  }

  /**
   * Records the result of a call. `write` gives its JSON form; a result without one is recorded as a marker, because its
   * effect has happened. Rejects if the call has another end in the record, because the program no longer has the run.
   */
  async succeed(call: HostedCall, output: unknown, write: (output: unknown) => unknown = (one) => one): Promise<void> {
    const content = await this.#resultOf(() => jsonOf(write(output) ?? null))
    const end = await this.#finish(call, (about) => ({ kind: 'tool_succeeded', ...about, result: { content } }))
    if (end?.success !== true) throw this.#over()
  }

  async #resultOf(written: () => Json): Promise<Json> {
    let result: Json
    try {
      result = written()
    } catch {
      return NO_JSON
    }
    try {
      return await this.#options.hide(result)
    } catch (error) {
      // It is nested too deep.
      if (error instanceof ToolError) return NO_JSON
      throw error
    }
  }

  async fail(call: HostedCall, error: unknown, code = 'EXECUTION_FAILED'): Promise<void> {
    const message = boundMessage(await this.#text(error))
    const failure = { code, message, transient: false, beforeEffect: false }
    await this.#finish(call, (about) => ({ kind: 'tool_failed', ...about, error: failure }))
  }

  /** Ends a call that has not begun and that the program gives up. */
  async leave({ id, key }: HostedCall): Promise<void> {
    this.#held.delete(key)
    await this.#append([{ kind: 'call_left', toolCallId: id }])
  }

  /** Asks a person for a permission. Null: the run ended first. If `signal` aborts, records a rejection and rejects. */
  async permission(
    asked: { tool: string; title: string; input: Json },
    signal: AbortSignal,
  ): Promise<'approved' | 'rejected' | null> {
    const body = (await this.#options.hide({
      ...{ toolName: asked.tool || 'tool', reason: boundMessage(asked.title), input: jsonOf(asked.input) },
    })) as { toolName: string; reason: string; input: Json }
    const id = await this.#asking.run(async () => {
      this.#mustGoOn()
      const next = nextAskId(this.state)
      await this.#append([{ kind: 'permission', toolCallId: next, ...body }])
      if (nextAskId(this.state) === next || this.#options.log.lost) throw this.#over()
      return next
    })
    let left = false
    for (;;) {
      const decision = this.state.permissions.last.find(({ toolCallId }) => toolCallId === id)?.decision
      // A person's approval in the last moment counts.
      if (left && decision !== 'approved') throw signal.reason
      if (decision !== null && decision !== undefined) return decision
      if (decision === undefined || this.#abort.signal.aborted || this.#released) return null
      if (signal.aborted) {
        await this.#append([{ kind: 'call_left', toolCallId: id }])
        left = true
      } else
        await this.#moved(LOOK_MS, signal).catch((error) => {
          if (!signal.aborted) throw error
        })
    }
  }

  /** The running call of a tool with these arguments, which a hook cannot name. */
  async running(name: string, input: Json): Promise<HostedCall | null> {
    const hidden = (await this.#options.hide(jsonOf(input))) as JsonObject
    const hash = argumentsHash(this.#salt, hidden)
    const call = this.state.tools?.open.findLast((one) => one.toolName === name && one.argumentsHash === hash)
    return call === undefined ? null : { id: call.id, key: '' }
  }

  /** Records the program's own reports. */
  async report(...events: readonly AgentEventBody[]): Promise<void> {
    const told = events.flatMap((event) => boundEvent(event))
    const hidden = (await this.#options.hide(jsonOf(told))) as unknown as AgentEventBody[]
    await this.#asking.run(() => this.#append([{ kind: 'batch', first: this.state.events.count, events: hidden }]))
  }

  async usage(usage: ReportedUsage): Promise<void> {
    await this.#append([{ kind: 'usage', usage }])
  }

  async session(sessionId: string): Promise<void> {
    if (this.sessionId !== sessionId) await this.#append([{ kind: 'session', sessionId }])
  }

  /**
   * Records entries of a transcript that are not recorded yet. An entry that follows one that never arrived is recorded
   * after a gap.
   */
  async mirror(subpath: string | undefined, entries: readonly JsonObject[]): Promise<void> {
    const place = subpath === undefined ? {} : { subpath }
    await this.#asking.run(async () => {
      const record = this.#record
      const fresh: JsonObject[] = []
      const seen = new Set<string>()
      let missing: string | null = null
      for (const entry of entries) {
        const { uuid, parentUuid } = entry
        if (typeof uuid === 'string' && (seen.has(uuid) || record.hasEntry(subpath, uuid))) continue
        const isKnown = (id: string) => seen.has(id) || record.hasEntry(subpath, id)
        if (missing === null && typeof parentUuid === 'string' && !isKnown(parentUuid)) missing = parentUuid
        if (typeof uuid === 'string') seen.add(uuid)
        fresh.push(entry)
      }
      if (fresh.length === 0) return
      const hidden = (await this.#options.hide(fresh)) as JsonObject[]
      const gap = missing === null ? [] : [{ kind: 'mirror_gap', ...place, after: missing } as const]
      await this.#append([...gap, { kind: 'mirrored', ...place, entries: hidden }])
      record.noteEntries(subpath, fresh)
    })
  }

  /** Records that entries did not arrive, and why. */
  async gap(subpath: string | undefined, error: unknown): Promise<void> {
    const place = subpath === undefined ? {} : { subpath }
    await this.#append([{ kind: 'mirror_gap', ...place, error: boundMessage(await this.#text(error)) }])
  }

  async deleted(subpath: string | undefined): Promise<void> {
    await this.#asking.run(() =>
      this.#append([{ kind: 'transcript_deleted', ...(subpath !== undefined && { subpath }) }]),
    )
  }

  /**
   * Records the end of the run. Calls without an outcome end as unknown. A program that starts again after its end records
   * nothing.
   */
  async finish(success: boolean, text: string | null): Promise<void> {
    const { stage } = this.state
    if (stage.at === 'ended' && stage.outcome.kind === 'exited') return
    this.#mustGoOn()
    const finalText = text === null ? null : boundFinalText(String(await this.#options.hide(text)))
    const exit = { code: success ? 0 : 1, signal: null }
    await this.#append([{ kind: 'end', outcome: { outcome: 'exited', exit, success, finalText } }])
    if (!isRunOver(this.state)) throw this.#over()
  }

  async #finish(
    { id }: HostedCall,
    factOf: (about: { toolCallId: string; toolName: string; attempt: number; durationMs: number }) => Fact,
  ): Promise<CallEnd | undefined> {
    const call = this.state.tools?.open.find((one) => one.id === id)
    if (call !== undefined) {
      const durationMs = Math.max(0, this.#options.clock.now() - call.startedAt)
      await this.#append([factOf({ toolCallId: id, toolName: call.toolName, attempt: call.attempt, durationMs })])
    }
    const end = this.#record.endOf(id)
    this.#record.forget(id)
    return end
  }

  get #salt(): string {
    return this.state.tools?.hashSalt ?? ''
  }

  #runs({ id }: HostedCall): boolean {
    const stage = this.state.tools?.open.find((one) => one.id === id)?.stage
    return stage?.at === 'running' && stage.epoch === this.state.driver?.epoch
  }

  async #append(facts: readonly Fact[]): Promise<void> {
    await this.#options.log.append(facts)
    this.#onNews()
  }

  async #look(): Promise<void> {
    await this.#options.log.look()
    this.#onNews()
  }

  /** Waits for news of the run, at most `ms`, and looks at the log. Rejects when the signal aborts. */
  async #moved(ms: number, signal?: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    signal?.throwIfAborted()
    const news = this.changed()
    const over = new AbortController()
    const until = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
    try {
      await Promise.race([news, clock.sleep(ms, until)])
    } finally {
      over.abort()
    }
    if (log.shared) await this.#look()
  }

  #onNews(): void {
    const { log } = this.#options
    if ((this.state.cancelledAt !== null || log.lost) && !this.#abort.signal.aborted && !isRunOver(this.state))
      this.#abort.abort(this.#over())
    if (isRunOver(this.state) && this.ended === null) {
      const { stage } = this.state
      if (stage.at === 'ended' && stage.outcome.kind === 'cancelled' && !this.#abort.signal.aborted)
        this.#abort.abort(this.#over())
      this.end(new AgentError('Backend', 'the run has ended'), null)
    }
    this.wake()
  }

  /** Rejects calls in a run that is over, cancelled, or continued elsewhere. */
  #mustGoOn(): void {
    const { log } = this.#options
    if (isRunOver(this.state) || this.state.cancelledAt !== null || log.lost || this.#released) throw this.#over()
  }

  #over(): Error {
    const { log } = this.#options
    if (this.state.cancelledAt !== null) return new AgentError('Backend', CANCELLED)
    if (isRunOver(this.state))
      return new ToolError(
        'CONFLICT',
        `the run ${this.agentId} has ended, and its record does not have this call; name another run`,
      )
    if (log.lost)
      return new ToolError('CONFLICT', `another process has continued the run ${this.agentId}; end one of the two`)
    return new ToolError('CANCELLED', `the run ${this.agentId} was released; open it again`)
  }

  async #text(error: unknown): Promise<string> {
    const message = error instanceof Error ? error.message : String(error)
    return String(await this.#options.hide(message.toWellFormed())) || 'no message'
  }

  /** Ends, approvals and deletions that others record too: a decision, an expiry, a refusal. */
  #hear(events: readonly SealedEvent[]): void {
    for (const { header, body } of events) {
      if (body === null) continue
      if (header.type === 'transcript_deleted')
        this.#record.forgetEntries((bodyOf(body) as { subpath?: string }).subpath)
      if (header.type === 'model_outcome') {
        const { call, outcome } = bodyOf(body) as { call: number; outcome: string }
        if (outcome === 'lost') this.#lost.add(call)
      }
      const id = header.toolCallId
      if (id === undefined) continue
      if (header.type === 'tool_call_end') this.#record.ended(id, bodyOf(body) as CallEnd)
      if (header.type === 'approval_decided')
        this.#record.approved(id, { ...(bodyOf(body) as Approval), by: header.actor.id })
    }
  }
}

type Fact = Parameters<ExternalRunLog['append']>[0][number]

export interface Waiting {
  readonly wait?: boolean
  readonly signal?: AbortSignal
}

/** The value as JSON stores it: without members that JSON drops. */
const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null) ?? 'null') as Json

const bodyOf = (body: Uint8Array): unknown => JSON.parse(utf8.decode(unsalted(body)))

/** An amount above the bound of nano-dollars is left out. */
function priced(usage: Usage, price: Price): { readonly nanoDollars?: number } {
  try {
    return { nanoDollars: cost(usage, price) }
  } catch (error) {
    if (error instanceof RangeError) return {}
    throw error
  }
}
