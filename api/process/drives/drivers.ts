import { setTimeout as wait } from 'node:timers/promises'
import type { AgentServices } from '../../../domain/agent/runtime/types.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { Semaphore } from '../../../domain/stream/runtime/concurrency.ts'
import type { DriveEnd } from '../../../domain/tree/runtime/drive.ts'
import { asProblem, Problem } from '../../operations/problem.ts'
import type { Ended } from '../../operations/runs/drive-end.ts'
import type { LiveHub } from '../live/hub.ts'

/** Whether this process drives an agent. `end`: how its last drive in this process ended. */
export interface DriveState {
  readonly driving: boolean
  readonly end: Ended | null
}

interface Drive {
  /** Another start was requested during the drive. The drive may already have made its last check, so run it again. */
  again: boolean
  readonly done: Promise<void>
  /** Resolves when the log records this process as the driver, or when the drive ends. */
  readonly claimed: PromiseWithResolvers<void>
}

const KEPT_ENDS = 1000
const brokenOff = (graceMs: number) =>
  new Problem(
    'BROKEN_OFF',
    `the work did not end within ${graceMs} ms (KEEPUP_DRAIN_MS) and is broken off; the next driver goes on from there`,
  )
const ENDING = new Error('this process is ending')

/** The drives of this process, at most one per agent. */
export class Drivers {
  readonly #runtime: Pick<AgentServices, 'drive'>
  readonly #live: LiveHub
  readonly #onFault: (agentId: string, error: unknown) => void
  readonly #drives = new Map<string, Drive>()
  readonly #ends = new Map<string, Ended>()
  readonly #drain = new AbortController()
  readonly #stop = new AbortController()
  readonly #places: Semaphore
  readonly #onWaiting = new Set<() => void>()
  readonly #onEvent = new Set<(header: SealedEvent['header']) => void>()

  /** `concurrency`: the most concurrent drives. Others wait in a queue and count as driven. */
  constructor(
    runtime: Pick<AgentServices, 'drive'>,
    live: LiveHub,
    onFault: (agentId: string, error: unknown) => void,
    concurrency = 32,
  ) {
    this.#places = new Semaphore(concurrency)
    this.#runtime = runtime
    this.#live = live
    this.#onFault = onFault
  }

  /**
   * Drives the agent in the background until it ends or waits. False: this process is shutting down. `waits`: wait if
   * another process drives the agent; otherwise that is a fault.
   */
  start(agentId: string, waits = true): boolean {
    if (this.#drain.signal.aborted) {
      // The caller must not mistake the end of an earlier drive for this one's.
      this.#ends.set(agentId, { end: 'interrupted' })
      return false
    }
    const running = this.#drives.get(agentId)
    if (running) {
      running.again = true
      return true
    }
    this.#ends.delete(agentId)
    const done = Promise.withResolvers<void>()
    const drive: Drive = { again: false, done: done.promise, claimed: Promise.withResolvers() }
    this.#drives.set(agentId, drive)
    this.#live.publish({ kind: 'drive', runId: agentId, driving: true, end: null })
    this.#run(agentId, drive, waits).finally(done.resolve)
    return true
  }

  state(agentId: string): DriveState {
    return { driving: this.#drives.has(agentId), end: this.#ends.get(agentId) ?? null }
  }

  /**
   * Calls the listener when a drive of this process ends with a waiting agent. Returns a function that removes the
   * listener.
   */
  onWaiting(listener: () => void): () => void {
    this.#onWaiting.add(listener)
    return () => void this.#onWaiting.delete(listener)
  }

  /** Calls the listener with the header of each event that a drive of this process records. */
  onEvent(listener: (header: SealedEvent['header']) => void): void {
    this.#onEvent.add(listener)
  }

  /** Agents whose last drive in this process failed. */
  faulted(): ReadonlySet<string> {
    return new Set([...this.#ends].flatMap(([agentId, { end }]) => (end === 'fault' ? [agentId] : [])))
  }

  /** Resolves when the agent's current drive, if any, has ended. */
  async ended(agentId: string): Promise<void> {
    await this.#drives.get(agentId)?.done
  }

  /** Resolves when the log records this process as the agent's driver, or if the process does not drive it. */
  async claimed(agentId: string): Promise<void> {
    await this.#drives.get(agentId)?.claimed.promise
  }

  get count(): number {
    return this.#drives.size
  }

  /**
   * Lets current drives finish for at most `graceMs`, then aborts the rest and reports them as faults. Starts no
   * further drives.
   */
  async stop(graceMs = 0): Promise<void> {
    this.#drain.abort(ENDING)
    const ended = Promise.all([...this.#drives.values()].map((d) => d.done))
    const over = new AbortController()
    await Promise.race([ended, wait(graceMs, undefined, { signal: over.signal }).catch(() => {})])
    over.abort()
    if (graceMs > 0 && !this.#stop.signal.aborted)
      for (const agentId of this.#drives.keys()) this.#onFault(agentId, brokenOff(graceMs))
    this.#stop.abort(ENDING)
    await ended
  }

  async #drive(agentId: string, { claimed }: Drive, waits: boolean): Promise<DriveEnd> {
    // A drive that leaves the queue during the shutdown opens nothing.
    if (this.#drain.signal.aborted) return { end: 'interrupted' }
    const onEvent = ({ header }: SealedEvent) => {
      if (header.type === 'driver_claimed') claimed.resolve()
      for (const listener of this.#onEvent) listener(header)
    }
    return this.#runtime.drive(agentId, { signal: this.#stop.signal, drain: this.#drain.signal, onEvent, waits })
  }

  async #run(agentId: string, drive: Drive, waits: boolean): Promise<void> {
    let end: Ended
    try {
      do {
        drive.again = false
        end = await this.#places.run(() => this.#drive(agentId, drive, waits))
      } while (drive.again && end.end === 'waiting' && !this.#drain.signal.aborted)
    } catch (error) {
      const known = asProblem(error)
      if (known === null) this.#onFault(agentId, error)
      const message = known?.message ?? (error instanceof Error ? error.message : String(error))
      end = { end: 'fault', code: known?.code ?? 'DRIVER_FAILED', message }
    }
    drive.claimed.resolve()
    this.#drives.delete(agentId)
    this.#ends.delete(agentId)
    this.#ends.set(agentId, end)
    if (this.#ends.size > KEPT_ENDS) this.#ends.delete(this.#ends.keys().next().value!)
    this.#live.publish({ kind: 'drive', runId: agentId, driving: false, end })
    if (end.end === 'waiting') for (const listener of this.#onWaiting) listener()
  }
}
