import { postWebhook, type WebhookAnswer } from '../../../adapters/web/webhook.ts'
import { hex } from '../../../domain/log/ids.ts'
import type { BlobStore, Clock, EventLog, Positions, Random, Vault } from '../../../domain/ports/index.ts'
import { within } from '../../../domain/stream/runtime/time-limit.ts'
import { countEventsAfter } from '../../operations/events/count-events-after.ts'
import type { ParkedRow } from '../../operations/read-model.ts'
import type { Notice } from '../../operations/webhooks/notice.ts'
import type { WebhookState, Webhooks } from '../../operations/webhooks/services.ts'
import type { Config, WebhookSettings } from '../config/settings.ts'
import { noteOf, positionName, urlHash, WebhookDelivery } from './delivery.ts'
import { NoticeReader } from './notice-reader.ts'
import { parkedNotice } from './parked-notice.ts'

/** The greatest count of events that a webhook is behind. */
const MOST_COUNTED = 1_000
/** The time for the last notices when a process ends, in ms. The next process delivers the others. */
const CLOSE_MS = 3_000
/** The time between two looks for parked streams, in ms. */
const LOOK_MS = 30_000

export interface WebhookParts {
  readonly config: Pick<Config, 'webhooks' | 'publicUrl' | 'host' | 'port'>
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly positions: Positions
  readonly clock: Clock
  readonly random: Random
  readonly vault: Pick<Vault, 'get'>
  /** The streams that are parked now. */
  parked(): Promise<readonly ParkedRow[]>
  hide(text: string): Promise<string>
  warn(text: string): void
}

/** The address of the page: `publicUrl`, or the one that `serve` listens on. */
export function pageUrl({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '')
  // A browser cannot open a wildcard address.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** The webhooks of the settings: their deliveries, where this process makes them, and their state. */
export class WebhookDeliveries implements Webhooks {
  readonly #parts: WebhookParts
  readonly #running = new Map<string, WebhookDelivery>()
  #end = AbortSignal.abort()

  constructor(parts: WebhookParts) {
    this.#parts = parts
  }

  /** Delivers until the signal aborts. */
  start(signal: AbortSignal): void {
    this.#end = signal
    for (const webhook of this.#parts.config.webhooks) this.#deliver(webhook)
    if (this.#running.size > 0) void this.#watchParked(signal)
  }

  /** Delivers what is left, as far as the receivers answer within {@link CLOSE_MS}. */
  async settle(): Promise<void> {
    if (this.#running.size === 0) return
    const parked = this.#tellParked().catch(() => undefined)
    const all = parked.then(() => Promise.all([...this.#running.values()].map((one) => one.settle())))
    await within(this.#parts.clock, CLOSE_MS, 'the last notices', all).catch(() => undefined)
  }

  /** Settles when the deliveries have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  list(): Promise<readonly WebhookState[]> {
    return Promise.all(this.#parts.config.webhooks.map((webhook) => this.#state(webhook)))
  }

  async test(name: string): Promise<WebhookAnswer | null> {
    const { config, clock, random } = this.#parts
    const webhook = config.webhooks.find((one) => one.name === name)
    if (webhook === undefined) return null
    const at = new Date(clock.now()).toISOString()
    const about = { run: null, agent: null, title: 'A test notice of keepup', text: '', link: pageUrl(config) }
    const notice: Notice = { id: `test-${hex(random.bytes(16))}`, type: 'test', at, ...about }
    const answer = await this.#send(webhook, notice, new AbortController().signal)
    if (answer.fault === null) await this.#resume(webhook)
    return answer
  }

  async #watchParked(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    while (!signal.aborted) {
      // The doctor reports tables that do not answer.
      await this.#tellParked().catch(() => undefined)
      await clock.sleep(LOOK_MS, signal).catch(() => undefined)
    }
  }

  /** Parking is no event of the log, so each process repeats the notice after its start. */
  async #tellParked(): Promise<void> {
    const { parked, clock, config, hide } = this.#parts
    const [rows, at, page] = [await parked(), new Date(clock.now()).toISOString(), pageUrl(config)]
    const notices = await Promise.all(
      rows.map(async (row) => {
        const notice = parkedNotice(row, at, page)
        return { ...notice, title: await hide(notice.title) }
      }),
    )
    await Promise.all([...this.#running.values()].map((one) => one.tellParked(notices)))
  }

  #deliver(webhook: WebhookSettings): void {
    const { config, log, blobs, hide } = this.#parts
    const notices = new NoticeReader({ log, blobs, hide, page: pageUrl(config) })
    const send = (notice: Notice, signal: AbortSignal) => this.#send(webhook, notice, signal)
    this.#running.set(webhook.name, new WebhookDelivery({ ...this.#parts, webhook, notices, send }, this.#end))
  }

  async #send(webhook: WebhookSettings, notice: Notice, signal: AbortSignal): Promise<WebhookAnswer> {
    const secret = await this.#parts.vault.get(webhook.secret)
    if (secret === null)
      return { status: null, fault: `there is no secret ${webhook.secret}; keepup secrets set ${webhook.secret}` }
    const { url } = webhook
    return postWebhook(
      { url, secret, id: notice.id, now: this.#parts.clock.now(), body: JSON.stringify(notice) },
      signal,
    )
  }

  /** Begins a stopped delivery again, where this process delivers. */
  async #resume(webhook: WebhookSettings): Promise<void> {
    const { positions } = this.#parts
    const name = positionName(webhook.name)
    if (noteOf(await positions.read(name)).stopped === null || this.#end.aborted) return
    await this.#running.get(webhook.name)?.done
    const held = await positions.claim(name)
    await positions.write(name, { ...held, note: JSON.stringify({ ...noteOf(held), stopped: null }) })
    this.#deliver(webhook)
  }

  async #state(webhook: WebhookSettings): Promise<WebhookState> {
    const { positions, log } = this.#parts
    const held = await positions.read(positionName(webhook.name))
    const { deliveredAt, failure, stopped } = noteOf(held)
    const isStopped = stopped !== null && stopped.url === urlHash(webhook.url)
    return {
      name: webhook.name,
      target: new URL(webhook.url).origin,
      types: webhook.types ?? null,
      // Null also for a position of another log: the next process begins at the end.
      behind: held === null || held.cursor === null ? null : await countEventsAfter(log, held.cursor, MOST_COUNTED),
      deliveredAt,
      failure,
      stopped: isStopped ? { at: stopped.at, message: stopped.message } : null,
    }
  }
}
