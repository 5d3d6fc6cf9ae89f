import { hash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { WebhookAnswer } from '../../../adapters/web/webhook.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { Clock, EventLog, Position, Positions, Random } from '../../../domain/ports/index.ts'
import type { Notice } from '../../operations/webhooks/notice.ts'
import type { Attempted } from '../../operations/webhooks/services.ts'
import type { WebhookSettings } from '../config/settings.ts'
import type { NoticeReader } from './notice-reader.ts'

/** Notices of one webhook that are read and not delivered. The log is read no further when there are more. */
const PENDING = 1_000
/** Deliveries of one webhook at the same time. */
const AT_ONCE = 8
const FIRST_DELAY_MS = 5_000
const LONGEST_DELAY_MS = 10 * 60_000
/** Attempts at a notice that the receiver refuses (4xx). Other failures are repeated without end. */
const REFUSED_ATTEMPTS = 3
/** The least time between two writes of the position, in ms. Notices delivered in between repeat after a crash. */
const SAVE_MS = 250

export interface DeliveryParts {
  readonly webhook: WebhookSettings
  readonly log: Pick<EventLog, 'subscribe' | 'cursor' | 'headCursor'>
  readonly notices: NoticeReader
  readonly positions: Positions
  readonly clock: Clock
  readonly random: Random
  send(notice: Notice, signal: AbortSignal): Promise<WebhookAnswer>
  warn(text: string): void
}

/** The part of a webhook's state that its position stores. */
export interface DeliveryNote {
  readonly deliveredAt: string | null
  readonly failure: Attempted | null
  /** `url`: a hash of the URL that stopped. Another URL begins again. */
  readonly stopped: (Attempted & { readonly url: string }) | null
}

interface Pending {
  readonly notice: Notice
  /** The place in the log before the notice's event. */
  readonly before: Cursor
}

export const positionName = (webhook: string): string => `webhook:${webhook}`
export const urlHash = (url: string): string => hash('sha256', url).slice(0, 16)

const NO_NOTE: DeliveryNote = { deliveredAt: null, failure: null, stopped: null }

export const noteOf = (position: Position | null): DeliveryNote =>
  position?.note ? { ...NO_NOTE, ...(JSON.parse(position.note) as Partial<DeliveryNote>) } : NO_NOTE

/**
 * Delivers the notices of the log to one webhook: at least once, those of a run in order. Runs do not wait for each
 * other until {@link PENDING} notices wait. Memory is bounded: the log itself is the queue.
 */
export class WebhookDelivery {
  readonly #parts: DeliveryParts
  readonly #end = new AbortController()
  readonly #lanes = new Map<string, Pending[]>()
  readonly #pending = new Set<Pending>()
  /** The ids of the parked streams' notices that this process took, while the streams stay parked. */
  #parked: ReadonlySet<string> = new Set()
  readonly #done: Promise<void>
  #epoch = 0
  #note = NO_NOTE
  /** Everything up to here is read. */
  #read: Cursor | null = null
  #running = 0
  #waiting: (() => void)[] = []
  #room = Promise.withResolvers<void>()
  #lanesDone = new Set<Promise<void>>()
  #failing = 0
  #saving: Promise<void> | null = null
  #mustSave = false

  constructor(parts: DeliveryParts, signal: AbortSignal) {
    this.#parts = parts
    setMaxListeners(0, this.#end.signal)
    this.#end.signal.addEventListener('abort', () => this.#room.resolve())
    const end = () => this.#end.abort(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    this.#done = this.#run()
  }

  /** Settles when the delivery has ended: stopped by its receiver, taken over, or aborted. Never rejects. */
  get done(): Promise<void> {
    return this.#done
  }

  /** Waits for the notices of all events up to now, unless a delivery fails. */
  async settle(): Promise<void> {
    const { log, clock } = this.#parts
    const head = await log.headCursor()
    while (!this.#end.signal.aborted && this.#failing === 0) {
      if ((this.#read?.position ?? -1) >= head.position && this.#pending.size === 0) return
      await clock.sleep(20, this.#end.signal).catch(() => undefined)
    }
  }

  /** Takes the notices of all streams that are parked now. Each is taken once, until its stream is released. */
  async tellParked(notices: readonly Notice[]): Promise<void> {
    // The position of an undelivered notice needs a place in the log.
    const read = this.#read
    if (read === null) return
    const known = this.#parked
    this.#parked = new Set(notices.map(({ id }) => id))
    for (const notice of notices)
      if (!known.has(notice.id) && isWanted(notice, this.#parts.webhook)) await this.#enqueue({ notice, before: read })
  }

  async #run(): Promise<void> {
    const { webhook, warn, clock } = this.#parts
    const { signal } = this.#end
    for (let failed = 0; !signal.aborted; failed += 1) {
      try {
        await this.#follow()
      } catch (error) {
        if (signal.aborted) break
        warn(`the webhook ${webhook.name}: ${(error as Error).message}; its notices are delivered later`)
        await clock.sleep(this.#delay(failed), signal).catch(() => undefined)
      }
    }
    await Promise.allSettled(this.#lanesDone)
    await this.#saving
    if (this.#read !== null) await this.#save().catch(() => undefined)
  }

  /** The place to read from: the stored one, or the head of the log for a new webhook. */
  async #begin(): Promise<Cursor> {
    const { webhook, log, positions } = this.#parts
    const held = await positions.claim(positionName(webhook.name))
    this.#note = noteOf(held)
    const { stopped } = this.#note
    if (stopped?.url === urlHash(webhook.url)) this.#end.abort(new Error(stopped.message))
    this.#end.signal.throwIfAborted()
    this.#note = { ...this.#note, stopped: null }
    this.#epoch = held.epoch
    return held.cursor ?? (await log.headCursor())
  }

  async #follow(): Promise<void> {
    const { webhook, log, warn } = this.#parts
    const { signal } = this.#end
    this.#read ??= await this.#begin()
    await this.#save()
    try {
      await this.#readFrom(this.#read)
    } catch (error) {
      if (!(error instanceof LogError && error.code === 'CURSOR_MISMATCH')) throw error
      warn(`the webhook ${webhook.name} had read another log, or a later state of this one; it begins at the end of it`)
      this.#read = await log.headCursor()
      await this.#save()
      await this.#readFrom(this.#read)
    }
    if (!signal.aborted) throw new Error('the log ended its subscription')
  }

  async #readFrom(after: Cursor): Promise<void> {
    const { log, notices, webhook } = this.#parts
    const { signal } = this.#end
    let last: RecordedEvent | null = null
    for await (const events of log.subscribe(after, signal)) {
      for (const event of events) {
        const notice = await notices.of(event)
        if (notice !== null && isWanted(notice, webhook)) {
          await this.#enqueue({ notice, before: last === null ? after : log.cursor(last) })
          if (signal.aborted) return
        }
        last = event
      }
      if (last === null) continue
      this.#read = log.cursor(last)
      this.#saveSoon()
    }
  }

  async #enqueue(pending: Pending): Promise<void> {
    while (this.#pending.size >= PENDING && !this.#end.signal.aborted) {
      this.#room = Promise.withResolvers()
      await this.#room.promise
    }
    this.#pending.add(pending)
    const run = pending.notice.run ?? ''
    const lane = this.#lanes.get(run)
    if (lane !== undefined) return void lane.push(pending)
    const made = [pending]
    this.#lanes.set(run, made)
    const work = this.#work(run, made).catch(() => undefined)
    this.#lanesDone.add(work)
    void work.finally(() => this.#lanesDone.delete(work))
  }

  /** Delivers the notices of one run. Rejects when the delivery ends. */
  async #work(run: string, lane: Pending[]): Promise<void> {
    for (let next = lane[0]; next !== undefined; next = lane[0]) {
      await this.#deliver(next.notice)
      lane.shift()
      this.#pending.delete(next)
      this.#room.resolve()
      this.#saveSoon()
    }
    this.#lanes.delete(run)
  }

  async #deliver(notice: Notice): Promise<void> {
    const { webhook, send, warn, clock } = this.#parts
    const { signal } = this.#end
    for (let attempt = 0; ; attempt += 1) {
      const { status, fault } = await this.#inTurn(() => send(notice, signal))
      const at = new Date(clock.now()).toISOString()
      if (fault === null) {
        this.#note = { ...this.#note, deliveredAt: at, failure: null }
        return
      }
      this.#note = { ...this.#note, failure: { at, message: fault } }
      if (status === 410) {
        this.#note = { ...this.#note, stopped: { at, message: fault, url: urlHash(webhook.url) } }
        warn(`the webhook ${webhook.name} is stopped: ${fault} (gone); set another URL, or test it once it works again`)
        this.#end.abort(new Error(fault))
      }
      signal.throwIfAborted()
      if (isRefusal(status) && attempt + 1 >= REFUSED_ATTEMPTS) {
        warn(`the webhook ${webhook.name} refuses the notice ${notice.id}: ${fault}; it is left out`)
        return
      }
      if (attempt === 0) this.#saveSoon()
      this.#failing += 1
      try {
        await clock.sleep(this.#delay(attempt), signal)
      } finally {
        this.#failing -= 1
      }
    }
  }

  /** Runs work in one of {@link AT_ONCE} slots. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      this.#end.signal.throwIfAborted()
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #delay(attempt: number): number {
    const most = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 20))
    return most * (1 - this.#parts.random.bytes(1)[0]! / 1_024)
  }

  #saveSoon(): void {
    this.#mustSave = true
    this.#saving ??= this.#saves().finally(() => {
      this.#saving = null
    })
  }

  async #saves(): Promise<void> {
    const { clock, warn, webhook } = this.#parts
    while (this.#mustSave && !this.#end.signal.aborted) {
      this.#mustSave = false
      await this.#save().catch((error: Error) => warn(`the position of the webhook ${webhook.name}: ${error.message}`))
      await clock.sleep(SAVE_MS, this.#end.signal).catch(() => undefined)
    }
  }

  /** Writes the place before the oldest notice that is not delivered. */
  async #save(): Promise<void> {
    const { positions, webhook, warn } = this.#parts
    const [oldest] = this.#pending
    const cursor = oldest?.before ?? this.#read
    const position = { cursor, epoch: this.#epoch, note: JSON.stringify(this.#note) }
    if ((await positions.write(positionName(webhook.name), position)) || this.#end.signal.aborted) return
    warn(`the webhook ${webhook.name} is delivered by a newer process; this one stops`)
    this.#end.abort(new Error('another process delivers'))
  }
}

const isRefusal = (status: number | null): boolean =>
  status !== null && status >= 400 && status < 500 && status !== 408 && status !== 429

const isWanted = ({ type }: Notice, { types }: WebhookSettings): boolean =>
  types === undefined || (types as readonly string[]).includes(type)
