import { type AllStreamResolvedEvent, type AllStreamSubscription, streamNameFilter } from '@eventstore/db-client'
import type { Held } from './client.ts'
import { Overdue } from './errors.ts'
import type { Limits } from './options.ts'

/** How many events are held ready before the server is held back. */
const HELD_READY = 256
/** Events that the server looks through between two tellings of how far it has come. */
const WINDOW = 256

/** Nothing came for long, which may mean that nothing happened. */
export class Silence extends Error {}

/** One subscription to the streams whose names begin with one of some prefixes, until it breaks. It never mends itself: make another one. */
export class Feed {
  readonly #subscription: AllStreamSubscription
  readonly #limits: Limits
  #ready: AllStreamResolvedEvent[] = []
  #confirmed = false
  #broken: unknown = null
  #checkpoint: number | null = null
  /** Something else than events was heard, and not told of yet. */
  #fresh = false
  #given = 0
  /** So many events were in the log when it was looked through to its end. */
  #standing = Number.POSITIVE_INFINITY
  #wake: () => void = () => undefined

  /** `after`: exclusive. */
  constructor({ client }: Held, after: number, prefixes: string[], limits: Limits) {
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
    // The listener stays: an error that comes after the end must find one.
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

  /** How far the server has looked, where all that it found so far was taken; else null. */
  get checkpoint(): number | null {
    return this.#waiting > 0 ? null : this.#checkpoint
  }

  get broken(): boolean {
    return this.#broken !== null
  }

  /** Was all that was in the log at some time since the beginning taken? */
  get caughtUp(): boolean {
    return this.#given >= this.#standing
  }

  get #waiting(): number {
    return this.#ready.length + this.#subscription.readableLength
  }

  /** The next events; none where there is a new {@link checkpoint}, or it has {@link caughtUp}. Rejects with the error that broke it, `Overdue`, `Silence` or the signal's reason. */
  async page(signal: AbortSignal): Promise<AllStreamResolvedEvent[]> {
    for (;;) {
      signal.throwIfAborted()
      // Events that came together are taken together.
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

  /** False: the time limit has passed without any. */
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
