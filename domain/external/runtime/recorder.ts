import { asJson, type Json, type JsonObject } from '../../log/json.ts'
import type { ExternalRunLog, Hiding, Mapped, TextsFilter } from '../../ports/external.ts'
import type { Clock } from '../../ports/index.ts'
import type { AgentEventBody } from '../agent-event.ts'
import { BATCH, Batcher } from '../batch.ts'
import { boundEvent } from '../bounds.ts'
import { type ReportedUsage, reportedUsage } from '../usage.ts'

type Fact = Parameters<ExternalRunLog['append']>[0][number]

export interface RecorderOptions {
  readonly log: ExternalRunLog
  readonly clock: Clock
  readonly hiding: Hiding | null
  /** More facts are durable. */
  onRecorded(): void
  /** An append failed. Nothing more can be recorded, and the process must end. */
  onFailure(error: unknown): void
}

interface ChannelTexts {
  readonly filter: TextsFilter
  /** Whether the first text that the filter holds back continues the one before it. Undefined: unknown. */
  continues: boolean | undefined
}

/** Longer names from a backend are not recorded: a cut name would identify something else. */
const NAME_CHARACTERS = 256
/** The number of channels with detection of secrets that span several texts. */
const CHANNELS = 16
const isName = (text: string | undefined): text is string =>
  text !== undefined && text !== '' && text.length <= NAME_CHARACTERS
/** Replaces an invalid usage report. An event that cannot be stored would block all later ones. */
const NO_USAGE: AgentEventBody = { kind: 'Error', message: 'the agent reports a usage that is none; it is not counted' }

/**
 * Records the reports of one run: redacts secrets, bounds each event, collects batches, and appends them in order. At
 * most one append runs and one waits; further ones block reading from the process.
 */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #batcher = new Batcher()
  readonly #stop = new AbortController()
  #recorded = 0
  #flight: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | null = null
  #timer = false
  /** By channel, least recently used first. Only the last filter holds text back. */
  readonly #channels = new Map<string | undefined, ChannelTexts>()

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Takes the mapped output of a backend. A returned promise resolves when the recorder can take more. */
  emit({ events = [], sessionId, usage }: Mapped): Promise<void> | undefined {
    let ready: Promise<void> | undefined
    for (const event of events) for (const hidden of this.#hide(event)) ready = this.#add(hidden) ?? ready
    const facts: Fact[] = []
    if (isName(sessionId)) facts.push({ kind: 'session', sessionId: this.#hideValue(sessionId) })
    if (usage !== undefined) {
      const told = reportedUsage(usage)
      if (told !== null) facts.push({ kind: 'usage', usage: this.#hideUsage(told) })
      else ready = this.#add(NO_USAGE) ?? ready
    }
    if (facts.length > 0) ready = this.append(facts)
    if (this.#batcher.dueAt !== null) this.#startTimer()
    return this.#failure === null ? ready : this.#flight
  }

  /** Appends facts after everything taken before. The promise resolves when only this append is in progress. */
  append(facts: readonly Fact[]): Promise<void> {
    return this.#send([...this.#taken(this.#batcher.take()), ...facts])
  }

  /** Appends facts after everything taken before. Resolves when they are durable; rejects if the log failed. */
  record(facts: readonly Fact[]): Promise<void> {
    void this.append(facts).catch(() => undefined)
    return this.#flight
  }

  /** Redacts the secrets of a complete value. */
  hide<T extends Json>(value: T): T {
    return this.#hideValue(value)
  }

  /** Resolves when everything is durable; rejects if the log failed. `last`: the last facts. */
  async finish(last: readonly Fact[]): Promise<void> {
    for (const event of this.#heldTexts()) this.#add(event)
    this.append(last)
    this.#stop.abort()
    await this.#flight
  }

  /** Redacts the secrets of a complete text. */
  hideText(text: string): string {
    return this.#hideValue(text)
  }

  #add(event: AgentEventBody): Promise<void> | undefined {
    let ready: Promise<void> | undefined
    for (const part of boundEvent(event))
      for (const batch of this.#batcher.add(part, this.#options.clock.now())) ready = this.#send(this.#taken(batch))
    return ready
  }

  #taken(events: readonly AgentEventBody[]): Fact[] {
    if (events.length === 0) return []
    const first = this.#recorded
    this.#recorded += events.length
    return [{ kind: 'batch', first, events }]
  }

  #send(facts: readonly Fact[]): Promise<void> {
    const before = this.#flight
    if (facts.length === 0) return before
    this.#flight = before.then(() => this.#options.log.append(facts)).then(this.#options.onRecorded)
    this.#flight.catch((error) => {
      if (this.#failure !== null) return
      this.#failure = { error }
      this.#stop.abort()
      this.#options.onFailure(error)
    })
    return before
  }

  #startTimer(): void {
    if (this.#timer) return
    this.#timer = true
    void this.#flushWhenDue().finally(() => {
      this.#timer = false
    })
  }

  async #flushWhenDue(): Promise<void> {
    const { clock } = this.#options
    for (let due = this.#batcher.dueAt; due !== null; due = this.#batcher.dueAt) {
      const left = due - clock.now()
      // If the clock was set back, wait no longer than one batch period.
      if (left > 0) await clock.sleep(Math.min(left, BATCH.ms), this.#stop.signal).catch(() => undefined)
      if (this.#stop.signal.aborted) return
      // A newer batch has its own deadline.
      if (this.#batcher.dueAt === due) this.#send(this.#taken(this.#batcher.take()))
    }
  }

  #hide(event: AgentEventBody): AgentEventBody[] {
    const { hiding } = this.#options
    if (hiding === null) return [event]
    const { kind, channel, text, continues, ...rest } = event
    if (kind !== 'TextOutput' || text === undefined)
      return [...this.#heldTexts(), { kind, ...this.#hideValue(asJson(event)) }]
    const texts = this.#textsOf(hiding, channel)
    const [own, ...held] = texts.filter.push(text).toReversed()
    const ready = [...this.#heldTexts(texts), ...this.#textEvents(channel, held.toReversed(), texts.continues)]
    const shown = { ...this.#textEvents(channel, [own!])[0]!, ...(continues !== undefined && { continues }) }
    // The filter does not say whether it holds the end of an earlier text, so the beginning of this text may be unknown.
    if (own !== '') texts.continues = true
    else texts.continues = continues === true && (held.length > 0 || texts.continues === true) ? true : undefined
    const more = rest.data !== undefined || rest.message !== undefined
    if (more) return [...ready, { ...shown, ...this.#hideValue(rest as JsonObject) }]
    return own === '' ? ready : [...ready, shown]
  }

  #textsOf(hiding: Hiding, channel: string | undefined): ChannelTexts {
    const texts = this.#channels.get(channel) ?? { filter: hiding.texts(), continues: undefined }
    this.#channels.delete(channel)
    this.#channels.set(channel, texts)
    for (const oldest of this.#channels.size > CHANNELS ? this.#channels.keys().take(1) : [])
      this.#channels.delete(oldest)
    return texts
  }

  /** The texts that the filters hold back, without those of one channel. */
  #heldTexts(except?: ChannelTexts): AgentEventBody[] {
    const others = [...this.#channels].filter(([, texts]) => texts !== except)
    return others.flatMap(([channel, { filter, continues }]) => this.#textEvents(channel, filter.end(), continues))
  }

  /** `continues`: of the first text. */
  #textEvents(channel: string | undefined, texts: readonly string[], continues?: boolean): AgentEventBody[] {
    const common = { kind: 'TextOutput', ...(channel !== undefined && { channel: this.#hideValue(channel) }) } as const
    return texts.map((text, n) => ({ ...common, text, ...(n === 0 && continues !== undefined && { continues }) }))
  }

  #hideUsage({ model, models, ...usage }: ReportedUsage): ReportedUsage {
    const each = models?.each.filter((one) => isName(one.model))
    return {
      ...usage,
      ...(isName(model) && { model: this.#hideValue(model) }),
      ...(models !== undefined && each?.length === models.each.length && { models: this.#hideValue(models) }),
    }
  }

  #hideValue<T extends Json>(value: T): T {
    return this.#options.hiding?.value(value) ?? value
  }
}
