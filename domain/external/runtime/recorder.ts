import { asJson, type Json, type JsonObject } from '../../log/json.ts'
import type { ExternalRunLog, Hiding, Mapped, TextsFilter } from '../../ports/external.ts'
import type { Clock } from '../../ports/index.ts'
import type { AgentEventBody } from '../agent-event.ts'
import { BATCH, Batcher } from '../batch.ts'
import { boundEvent } from '../bounds.ts'
import { reportedUsage, type Usage } from '../usage.ts'

type Fact = Parameters<ExternalRunLog['append']>[0][number]

export interface RecorderOptions {
  readonly log: ExternalRunLog
  readonly clock: Clock
  readonly hiding: Hiding | null
  /** Something more is durable. */
  onRecorded(): void
  /** An append failed: nothing more is recorded, and the process must not go on. */
  onFailure(error: unknown): void
}

/** Names of a backend's own that are longer are not recorded: cut, they would name something else. */
const NAME_CHARACTERS = 256
/** The number of channels in which secrets are recognised across texts. */
const CHANNELS = 16
const isName = (text: string | undefined): text is string =>
  text !== undefined && text !== '' && text.length <= NAME_CHARACTERS
/** A report that could not be stored would keep all that follows from being stored. */
const NO_USAGE: AgentEventBody = { kind: 'Error', message: 'the agent reports a usage that is none; it is not counted' }

/**
 * Records what one run tells: hides secrets, bounds each event, gathers batches, and appends them one after another. One
 * append is under way and one waits at most; then whatever reads from the process waits too.
 */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #batcher = new Batcher()
  readonly #stop = new AbortController()
  #recorded = 0
  #flight: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | null = null
  #timer = false
  /** By channel, in the order of their last use. Only the last filter holds texts back. */
  readonly #filters = new Map<string | undefined, TextsFilter>()

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Takes what was mapped. The promise, where there is one, resolves when more can be taken. */
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

  /** Appends facts behind all that was taken before. The promise resolves when at most these are still under way. */
  append(facts: readonly Fact[]): Promise<void> {
    return this.#send([...this.#taken(this.#batcher.take()), ...facts])
  }

  /** Appends facts behind all that was taken before. Resolves when they are durable; rejects where they never will be. */
  record(facts: readonly Fact[]): Promise<void> {
    void this.append(facts).catch(() => undefined)
    return this.#flight
  }

  /** Text and data that came as a whole, without their secrets. */
  hide<T extends Json>(value: T): T {
    return this.#hideValue(value)
  }

  /** Resolves when everything is durable; rejects where it never will be. `last`: the last facts. */
  async finish(last: readonly Fact[]): Promise<void> {
    for (const event of this.#heldTexts()) this.#add(event)
    this.append(last)
    this.#stop.abort()
    await this.#flight
  }

  /** Text that came as a whole, without its secrets. */
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
      // A clock that was set back must not hold a batch.
      if (left > 0) await clock.sleep(Math.min(left, BATCH.ms), this.#stop.signal).catch(() => undefined)
      if (this.#stop.signal.aborted) return
      // A batch that took its place meanwhile has its own time.
      if (this.#batcher.dueAt === due) this.#send(this.#taken(this.#batcher.take()))
    }
  }

  #hide(event: AgentEventBody): AgentEventBody[] {
    const { hiding } = this.#options
    if (hiding === null) return [event]
    const { kind, channel, text, ...rest } = event
    if (kind !== 'TextOutput' || text === undefined)
      return [...this.#heldTexts(), this.#hideValue(asJson(event)) as unknown as AgentEventBody]
    const filter = this.#filterOf(hiding, channel)
    const ready = [...this.#heldTexts(filter), ...this.#textEvents(channel, filter.push(text))]
    const own = ready.pop()!
    const more = rest.data !== undefined || rest.message !== undefined
    if (more) return [...ready, { ...own, ...this.#hideValue(rest as JsonObject) }]
    return own.text === '' ? ready : [...ready, own]
  }

  #filterOf(hiding: Hiding, channel: string | undefined): TextsFilter {
    const filter = this.#filters.get(channel) ?? hiding.texts()
    this.#filters.delete(channel)
    this.#filters.set(channel, filter)
    for (const oldest of this.#filters.size > CHANNELS ? this.#filters.keys().take(1) : []) this.#filters.delete(oldest)
    return filter
  }

  /** The texts that all filters hold back, except one filter. */
  #heldTexts(except?: TextsFilter): AgentEventBody[] {
    const others = [...this.#filters].filter(([, filter]) => filter !== except)
    return others.flatMap(([channel, filter]) => this.#textEvents(channel, filter.end()))
  }

  #textEvents(channel: string | undefined, texts: readonly string[]): AgentEventBody[] {
    if (channel === undefined) return texts.map((text) => ({ kind: 'TextOutput', text }))
    const hidden = this.#hideValue(channel)
    return texts.map((text) => ({ kind: 'TextOutput', channel: hidden, text }))
  }

  #hideUsage({ model, ...usage }: Usage): Usage {
    return isName(model) ? { ...usage, model: this.#hideValue(model) } : usage
  }

  #hideValue<T extends Json>(value: T): T {
    return this.#options.hiding?.value(value) ?? value
  }
}
