import type { AgentRuntimeDoors, DriveEnd } from '../../domain/runtime/types.ts'
import { explained } from '../explained.ts'
import type { LiveHub } from '../live/hub.ts'

/** How a drive ended; `fault`: it could not go on (a full disk, say), which ended nothing: the run stands where it stood. */
export type Ended = DriveEnd | { readonly end: 'fault'; readonly code: string; readonly message: string }

/** What is known here of the driving of an agent. `end`: how the last drive of this process ended. */
export interface DriveState {
  readonly driving: boolean
  readonly end: Ended | null
}

interface Drive {
  /** Somebody asked again while the drive was under way: it may have looked away before their fact was there. */
  again: boolean
  readonly done: Promise<void>
}

const KEPT_ENDS = 1000

/** The drives of this process, one per agent at most. */
export class Drivers {
  readonly #runtime: Pick<AgentRuntimeDoors, 'drive'>
  readonly #live: LiveHub
  readonly #onFault: (agentId: string, error: unknown) => void
  readonly #drives = new Map<string, Drive>()
  readonly #ends = new Map<string, Ended>()
  readonly #stop = new AbortController()

  constructor(
    runtime: Pick<AgentRuntimeDoors, 'drive'>,
    live: LiveHub,
    onFault: (agentId: string, error: unknown) => void,
  ) {
    this.#runtime = runtime
    this.#live = live
    this.#onFault = onFault
  }

  /** Drives the agent in the background until it ends or waits. False: this process is shutting down. */
  start(agentId: string): boolean {
    if (this.#stop.signal.aborted) {
      // Who asked must not take the end of an earlier drive for the answer.
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
    const drive: Drive = { again: false, done: done.promise }
    this.#drives.set(agentId, drive)
    this.#live.publish({ kind: 'drive', runId: agentId, driving: true, end: null })
    this.#run(agentId, drive).finally(done.resolve)
    return true
  }

  state(agentId: string): DriveState {
    return { driving: this.#drives.has(agentId), end: this.#ends.get(agentId) ?? null }
  }

  /** Resolves when the current drive of the agent, if any, has ended. */
  async ended(agentId: string): Promise<void> {
    await this.#drives.get(agentId)?.done
  }

  get count(): number {
    return this.#drives.size
  }

  /** Interrupts every drive and waits for them; none starts afterwards. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('this process is shutting down'))
    await Promise.all([...this.#drives.values()].map((d) => d.done))
  }

  async #run(agentId: string, drive: Drive): Promise<void> {
    let end: Ended
    try {
      do {
        drive.again = false
        end = await this.#runtime.drive(agentId, { signal: this.#stop.signal })
      } while (drive.again && end.end === 'waiting' && !this.#stop.signal.aborted)
    } catch (error) {
      this.#onFault(agentId, error)
      const unforeseen = { code: 'DRIVER_FAILED', message: error instanceof Error ? error.message : String(error) }
      end = { end: 'fault', ...(explained(error) ?? unforeseen) }
    }
    this.#drives.delete(agentId)
    this.#ends.delete(agentId)
    this.#ends.set(agentId, end)
    if (this.#ends.size > KEPT_ENDS) this.#ends.delete(this.#ends.keys().next().value!)
    this.#live.publish({ kind: 'drive', runId: agentId, driving: false, end })
  }
}
