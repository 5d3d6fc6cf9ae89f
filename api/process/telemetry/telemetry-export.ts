import { type OtlpAnswer, otlpUrl, postOtlp, unsent } from '../../../adapters/web/otlp.ts'
import type { Span } from '../../../domain/calls/telemetry.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { BlobStore, Clock, EventLog, Positions, Random, Vault } from '../../../domain/ports/index.ts'
import { within } from '../../../domain/stream/runtime/time-limit.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { Consumers } from '../../operations/consumers/consumers.ts'
import type { ConsumerReader } from '../../operations/consumers/reader.ts'
import { shownBody } from '../../operations/events/body.ts'
import { Problem } from '../../operations/problem.ts'
import { type SpanBatch, spanBatches } from '../../operations/telemetry/otlp-traces.ts'
import { isDamage, spansOfRun } from '../../operations/telemetry/run-spans.ts'
import type { TelemetrySending, TelemetryState } from '../../operations/telemetry/services.ts'
import type { TelemetrySettings } from '../config/settings.ts'

/** The consumer of the log whose position says which runs were sent. */
export const CONSUMER = 'keepup.telemetry'
/** The events that end an agent. */
const ENDS = { kinds: ['agent', 'external'], types: ['completion', 'error', 'external_ended'] } as const
const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 5 * 60_000
/** Attempts at a request that the collector refuses. Other failures are repeated without end. */
const REFUSED_ATTEMPTS = 3
/** The time for the last runs when a process ends, in ms. The next process sends the others. */
const CLOSE_MS = 3_000

export interface TelemetryParts {
  /** Null: the settings name no collector. */
  readonly settings: TelemetrySettings | null
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly positions: Positions
  readonly clock: Clock
  readonly random: Random
  readonly vault: Pick<Vault, 'get'>
  warn(text: string): void
}

type Note = Pick<TelemetryState, 'sentAt' | 'failure'>

const NO_NOTE: Note = { sentAt: null, failure: null }

/**
 * Sends the spans of each run to the collector of the settings when its root ends, and again when an agent ends after
 * that: at least once, in the order of the ends. It reads the log as a consumer, so runs wait for nothing while the
 * collector cannot be reached.
 */
export class TelemetryExport implements TelemetrySending {
  readonly #parts: TelemetryParts
  readonly #consumers: Consumers
  #end = AbortSignal.abort()
  #done: Promise<void> = Promise.resolve()
  /** Everything up to here is sent. */
  #handled: Cursor | null = null
  #isFailing = false
  #note = NO_NOTE
  #epoch = 0

  constructor(parts: TelemetryParts) {
    this.#parts = parts
    this.#consumers = new Consumers(parts)
  }

  /** Sends until the signal aborts. */
  start(signal: AbortSignal): void {
    const { settings } = this.#parts
    if (settings === null) return
    this.#end = signal
    this.#done = this.#run(settings)
  }

  /** Sends the runs that have ended, unless the collector fails, within {@link CLOSE_MS}. */
  async settle(): Promise<void> {
    const { clock } = this.#parts
    if (!this.#end.aborted) await within(clock, CLOSE_MS, 'the last spans', this.#caughtUp()).catch(() => undefined)
  }

  /** Settles when the sending has ended. */
  ended(): Promise<void> {
    return this.#done
  }

  async state(): Promise<TelemetryState | null> {
    const { settings, positions } = this.#parts
    if (settings === null) return null
    return { target: new URL(settings.url).origin, consumer: CONSUMER, ...noteOf(await positions.read(CONSUMER)) }
  }

  async #caughtUp(): Promise<void> {
    const { log, clock } = this.#parts
    const head = await log.headCursor()
    while (!this.#end.aborted && !this.#isFailing && (this.#handled?.position ?? -1) < (head?.position ?? -1))
      await clock.sleep(20, this.#end).catch(() => undefined)
  }

  async #run(settings: TelemetrySettings): Promise<void> {
    const { warn } = this.#parts
    for (let failed = 0; !this.#end.aborted; failed += 1) {
      try {
        await this.#follow(settings)
      } catch (error) {
        if (this.#end.aborted) return
        warn(`spans for OpenTelemetry: ${(error as Error).message}; they are sent later`)
        await this.#wait(this.#delay(failed)).catch(() => undefined)
      }
    }
  }

  async #follow(settings: TelemetrySettings): Promise<void> {
    const { positions, log } = this.#parts
    const held = await positions.claim(CONSUMER)
    this.#epoch = held.epoch
    this.#note = noteOf(held)
    const reader = await this.#open()
    this.#handled = reader.position
    // The last run that was sent, with its events up to a position.
    let sent = { runId: '', to: -1 }
    for await (const { page, events } of reader.pages(this.#end)) {
      for (const event of events) {
        const { runId } = event.header
        const isSent = runId === sent.runId && event.position <= sent.to
        if (runId !== undefined && !isSent && (await this.#isDue(event, runId))) {
          const head = await log.headCursor()
          await this.#send(settings, runId)
          sent = { runId, to: head?.position ?? -1 }
        }
        await reader.ack(log.cursor(event))
      }
      this.#handled = page.end
    }
  }

  /** The reader of the consumer. A new consumer begins at the end of the log, and so does one of another log. */
  async #open(): Promise<ConsumerReader> {
    const filter = { kinds: [...ENDS.kinds], types: [...ENDS.types] }
    const create = async () => this.#consumers.create(CONSUMER, { after: await this.#parts.log.headCursor(), filter })
    await create()
    try {
      return await this.#consumers.open(CONSUMER)
    } catch (error) {
      if (!(error instanceof LogError && error.code === 'CURSOR_MISMATCH')) throw error
      this.#parts.warn('spans for OpenTelemetry: the log is another one than before, so they begin at its end')
      await this.#consumers.remove(CONSUMER)
      await create()
      return this.#consumers.open(CONSUMER)
    }
  }

  /** Whether the spans of a run are due with an event: its root has ended, and an agent ends now. */
  async #isDue(event: RecordedEvent, runId: string): Promise<boolean> {
    try {
      return (
        (await this.#endsAgent(event)) && !(await this.#isReported(event)) && (await this.#rootHasEnded(event, runId))
      )
    } catch (error) {
      if (isUnreadable(error)) return false
      throw error
    }
  }

  /**
   * Whether the run came over OTLP. Its program sends its spans where it wants to: a collector that is this process itself
   * would otherwise get its own spans without end.
   */
  async #isReported({ header: { type, stream } }: RecordedEvent): Promise<boolean> {
    if (type !== 'external_ended') return false
    for await (const page of this.#parts.log.read(stream, { types: ['spans_reported'], bodies: false }))
      if (page.some(({ header }) => header.type === 'spans_reported')) return true
    return false
  }

  async #rootHasEnded(event: RecordedEvent, runId: string): Promise<boolean> {
    if (event.header.agentId === runId) return true
    const { log } = this.#parts
    const root = await streamOfAgent(log, runId)
    if (root === null) return false
    for await (const page of log.read(root, { types: ENDS.types }))
      for (const one of page) if (one.position < event.position && (await this.#endsAgent(one))) return true
    return false
  }

  /** An `error` also records a failed attempt. */
  async #endsAgent(event: RecordedEvent): Promise<boolean> {
    if (event.header.type !== 'error') return ENDS.types.some((type) => type === event.header.type)
    return (await shownBody(event, this.#parts.blobs)).json?.recoverable === false
  }

  /**
   * Repeats each request until the collector takes it or has refused it {@link REFUSED_ATTEMPTS} times. After a wait the
   * other spans are derived again, because a body may have been erased. Rejects when the sending ends, and when the
   * stores do not answer.
   */
  async #send(settings: TelemetrySettings, runId: string): Promise<void> {
    const { warn } = this.#parts
    const taken = new Set<string>()
    const warned = new Set<string>()
    const warnOnce = (text: string) => {
      if (!warned.has(text)) warn(text)
      warned.add(text)
    }
    let [failed, refused, isWhole] = [0, 0, false]
    while (!isWhole) {
      isWhole = true
      for await (const { text, spanIds } of this.#batches(settings, runId, taken, warnOnce)) {
        const { fault, rejected, transient, waitMs } = await this.#attempt(settings, `{"resourceSpans":[${text}]}`)
        this.#end.throwIfAborted()
        await this.#tell(fault)
        if (fault !== null && !transient) refused += 1
        if (fault !== null && refused < REFUSED_ATTEMPTS) {
          await this.#wait(waitMs ?? this.#delay(failed))
          failed += 1
          isWhole = false
          break
        }
        if (fault !== null) warn(`the collector of spans refuses those of ${runId}: ${fault}; they are left out`)
        if (rejected !== null) warn(`the collector of spans takes those of ${runId} in part: ${rejected}`)
        for (const id of spanIds) taken.add(id)
        failed = 0
        refused = 0
      }
    }
  }

  /** The spans of a run that are not `taken`. Those of an agent end at a body that is damaged or erased. */
  async *#batches(
    settings: TelemetrySettings,
    runId: string,
    taken: ReadonlySet<string>,
    warn: TelemetryParts['warn'],
  ): AsyncGenerator<SpanBatch> {
    const { log, blobs } = this.#parts
    const onIncomplete = (stream: string, { message }: LogError) =>
      warn(`the spans of ${stream} of the run ${runId}: ${message}; the later ones are left out`)
    try {
      yield* spanBatches(log.logId, without(taken, spansOfRun({ log, blobs }, runId, { ...settings, onIncomplete })))
    } catch (error) {
      if (!isUnreadable(error)) throw error
      warn(`the spans of ${runId}: ${error.message}; they are left out`)
    }
  }

  async #wait(ms: number): Promise<void> {
    this.#isFailing = true
    try {
      await this.#parts.clock.sleep(ms, this.#end)
    } finally {
      this.#isFailing = false
    }
  }

  async #attempt({ url, headers: named }: TelemetrySettings, body: string): Promise<OtlpAnswer> {
    const headers: Record<string, string> = {}
    for (const [name, secret] of Object.entries(named)) {
      const value = await this.#parts.vault.get(secret)
      const fault = `there is no secret ${secret}; keepup secrets set ${secret}`
      if (value === null) return unsent(fault)
      headers[name] = value
    }
    return postOtlp({ url: otlpUrl(url, '/v1/traces'), headers, body }, this.#end)
  }

  /** `fault` null: the collector has taken a request. */
  async #tell(fault: string | null): Promise<void> {
    const at = new Date(this.#parts.clock.now()).toISOString()
    this.#note = fault === null ? { sentAt: at, failure: null } : { ...this.#note, failure: { at, message: fault } }
    const position = { cursor: null, epoch: this.#epoch, note: JSON.stringify(this.#note) }
    // The note is for people. The next one replaces it.
    await this.#parts.positions.write(CONSUMER, position).catch(() => false)
  }

  #delay(attempt: number): number {
    const most = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 20))
    return most * (1 - this.#parts.random.bytes(1)[0]! / 1_024)
  }
}

const noteOf = (held: { readonly note: string | null } | null): Note =>
  held?.note ? { ...NO_NOTE, ...(JSON.parse(held.note) as Partial<Note>) } : NO_NOTE

/** Whether no later attempt can read these spans. */
const isUnreadable = (error: unknown): error is LogError | Problem =>
  isDamage(error) || (error instanceof Problem && error.code === 'NOT_FOUND')

async function* without(taken: ReadonlySet<string>, pages: AsyncIterable<readonly Span[]>) {
  for await (const spans of pages) yield spans.filter(({ spanId }) => !taken.has(spanId))
}
