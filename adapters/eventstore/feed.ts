import { type AllStreamResolvedEvent, type AllStreamSubscription, streamNameFilter } from '@eventstore/db-client'
import type { HeldClient } from './client.ts'
import { Overdue } from './errors.ts'
import type { TimeLimits } from './options.ts'

/** The number of events in memory at which reading pauses. */
const HELD_READY = 256
/** The number of events that the server searches between two checkpoints. */
const WINDOW = 256

/** Nothing arrived for a long time. Perhaps no events were written. */
export class Silence extends Error {}

/**
 * One subscription to the streams that begin with some prefixes, until it breaks. It never reconnects; make a new one
 * instead.
 */
export class Feed {
  readonly #subscription: AllStreamSubscription
  readonly #limits: TimeLimits
  #ready: AllStreamResolvedEvent[] = []
  #confirmed = false
  #broken: unknown = null
  #checkpoint: number | null = null
  /** A checkpoint or `caughtUp` arrived that {@link page} has not reported yet. */
  #fresh = false
  #given = 0
  /** The number of events delivered when the server first reported the end of the log. */
  #standing = Number.POSITIVE_INFINITY
  #wake: () => void = () => undefined

  /** `after` is exclusive. */
  constructor({ client }: HeldClient, after: number, prefixes: string[], limits: TimeLimits) {
    this.#limits = limits
    this.#subscription = client.subscribeToAll(
      {
        fromPosition: { commit: BigInt(after), prepare: BigInt(after) },
        requiresLeader: true,
        filter: streamNameFilter({
          prefixes,
          maxSearchWindow: WINDOW,
          checkpointInterval: 1,
          checkpointReached: (_, position) =>
            this.#heard(() => {
              this.#checkpoint = Number(position.commit)
              this.#fresh = true
            }),
        }),
      },
      { highWaterMark: HELD_READY },
    )
    this.#subscription.on('confirmation', () => this.#heard(() => (this.#confirmed = true)))
    this.#subscription.on('caughtUp', () =>
      this.#heard(() => {
        this.#standing = Math.min(this.#standing, this.#given + this.#waiting)
        this.#fresh = true
      }),
    )
    // Keep the listener: an error after the end would otherwise be uncaught.
    this.#subscription.on('error', (error: unknown) => this.#heard(() => (this.#broken ??= error)))
    const ended = () => this.#heard(() => (this.#broken ??= new Error('the server ended the subscription')))
    this.#subscription.on('end', ended)
    this.#subscription.on('data', (event: AllStreamResolvedEvent) => {
      this.#ready.push(event)
      if (this.#ready.length >= HELD_READY) this.#subscription.pause()
      this.#wake()
    })
  }

  #heard(note: () => void): void {
    note()
    this.#wake()
  }

  /** The position that the server has searched to, if every event up to it was taken; else null. */
  get checkpoint(): number | null {
    return this.#waiting > 0 ? null : this.#checkpoint
  }

  get broken(): boolean {
    return this.#broken !== null
  }

  /** Whether every event that the log had when the server reached its end was taken. */
  get caughtUp(): boolean {
    return this.#given >= this.#standing
  }

  get #waiting(): number {
    return this.#ready.length + this.#subscription.readableLength
  }

  /**
   * The next events. Empty after a new {@link checkpoint} or when the feed has {@link caughtUp}. Rejects with the error
   * that broke the subscription, `Overdue`, `Silence` or the signal's reason.
   */
  async page(signal: AbortSignal): Promise<AllStreamResolvedEvent[]> {
    for (;;) {
      signal.throwIfAborted()
      // Waits one turn, so that events that arrive together are returned together.
      if (this.#ready.length > 0 && this.#ready.length < HELD_READY)
        await new Promise((resolve) => setImmediate(resolve))
      if (this.#ready.length > 0) return this.#take()
      if (this.#broken !== null) throw this.#broken
      if (this.#fresh) {
        this.#fresh = false
        return []
      }
      if (!(await this.#news(signal))) throw this.#silence()
    }
  }

  #take(): AllStreamResolvedEvent[] {
    const events = this.#ready
    this.#ready = []
    this.#given += events.length
    this.#subscription.resume()
    return events
  }

  #silence(): Error {
    return this.#confirmed
      ? new Silence('the subscription is silent')
      : new Overdue('a subscription', this.#limits.callMs)
  }

  /** Waits for news. False: the time limit has passed. */
  #news(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (heard: boolean) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', aborted)
        resolve(heard)
      }
      const aborted = () => end(true)
      const timer = setTimeout(() => end(false), this.#confirmed ? this.#limits.silenceMs : this.#limits.callMs)
      signal.addEventListener('abort', aborted, { once: true })
      this.#wake = () => end(true)
    })
  }

  close(): void {
    this.#subscription.pause()
    this.#subscription.unsubscribe().catch(() => undefined)
  }
}
