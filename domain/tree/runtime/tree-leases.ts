import type { Lease, RuntimePorts } from '../../ports/runtime.ts'
import { Mutex, Semaphore } from '../../stream/runtime/concurrency.ts'
import type { AgentSpec } from '../spec.ts'

/** How often to retry a lease of another process, in ms. */
export const LOOK_MS = 500
const SLOT_LOOK_MS = 200

/** The default number of agents of a run that work at once, over all processes (CONTRACTS 4). */
const AGENTS_AT_ONCE = 5

type Ports = Pick<RuntimePorts, 'lease' | 'clock' | 'warn' | 'agentsAtOnce'>
interface Options {
  readonly runId: string
  /** Aborts when no new work may start. */
  readonly stopped: AbortSignal
}

/** An agent of the run. */
interface Leased {
  readonly agentId: string
  readonly spec: Pick<AgentSpec, 'workspace' | 'delegation'>
}

/**
 * The leases of this process on a run that several processes drive: the run with the agents in its folder, each other
 * agent while it works here, and the slots of working agents. Without other processes, no lease is needed.
 */
export class TreeLeases {
  readonly #ports: Ports
  readonly #options: Options
  readonly #atOnce: number
  readonly #local: Semaphore
  /** Serialises the search for a slot. */
  readonly #looking = new Mutex()
  readonly #taken = new Set<number>()
  #run: Lease | null = null
  /** When to retry the lease of the run, in ms. */
  #retryAt = 0
  #lostBefore = false

  constructor(ports: Ports, options: Options) {
    this.#ports = ports
    this.#options = options
    this.#atOnce = ports.agentsAtOnce ?? AGENTS_AT_ONCE
    this.#local = new Semaphore(this.#atOnce)
  }

  /** Whether other processes may drive the run. */
  get shared(): boolean {
    return this.#ports.lease !== undefined
  }

  get holdsRun(): boolean {
    return !this.shared || (this.#run !== null && !this.#run.lost.aborted)
  }

  /** The lease of the run was lost at some time, so others may have driven the run. */
  get wasLost(): boolean {
    return this.#lostBefore || this.#run?.lost.aborted === true
  }

  /** When to retry the lease of the run, in ms. */
  get wakeAt(): number {
    return this.holdsRun ? Number.POSITIVE_INFINITY : this.#retryAt
  }

  /** Tries to acquire the run. True: acquired. Rejects if the lease service fails. */
  async takeRun(): Promise<boolean> {
    const { lease } = this.#ports
    return lease !== undefined && this.#hold(await lease(this.#options.runId))
  }

  /** Retries to acquire the run, at most once per {@link LOOK_MS}. True: acquired now. */
  async retakeRun(): Promise<boolean> {
    if (this.holdsRun || this.#ports.clock.now() < this.#retryAt) return false
    await this.release()
    return this.#hold(await this.#tried(this.#options.runId))
  }

  #hold(run: Lease | null): boolean {
    this.#run = run
    this.#retryAt = this.#ports.clock.now() + LOOK_MS
    return run !== null
  }

  async release(): Promise<void> {
    const run = this.#run
    this.#lostBefore = this.wasLost
    this.#run = null
    await run?.release()
  }

  /** Whether the run's lease covers the agent: the root, and agents that work in the run's folder. */
  ofRun({ agentId, spec }: Leased): boolean {
    return agentId === this.#options.runId || spec.workspace !== null
  }

  /**
   * Runs `work` with the agent's lease (or the run's lease if that covers the agent) and a slot. `lost` aborts when a
   * lease is lost. False: another process has the lease, or no new work may start.
   */
  work(state: Leased, work: (lost: AbortSignal) => Promise<void>): Promise<boolean> {
    return this.#local.run(async () => {
      const ofRun = this.ofRun(state)
      if (ofRun && !this.holdsRun) return false
      // An agent that cannot delegate has no concurrent agents, so it needs no slot.
      const slot = this.shared && state.spec.delegation !== undefined ? await this.#slot() : HELD
      if (slot === null) return false
      try {
        const own = !this.shared ? HELD : ofRun ? this.#run : await this.#tried(state.agentId)
        if (own === null) return false
        await work(AbortSignal.any([slot.lost, own.lost])).finally(() => (ofRun ? undefined : own.release()))
        return true
      } finally {
        await slot.release()
      }
    })
  }

  #slot(): Promise<Lease | null> {
    const { runId, stopped } = this.#options
    const wait = (ms: number) => this.#ports.clock.sleep(ms, stopped).catch(() => undefined)
    return this.#looking.run(async () => {
      // Wait longer with more slots. Processes with fewer slots come first, so the work is shared.
      if (this.#taken.size > 0) await wait(Math.ceil((SLOT_LOOK_MS * this.#taken.size) / this.#atOnce))
      while (!stopped.aborted) {
        for (let n = 0; n < this.#atOnce; n++) {
          if (this.#taken.has(n)) continue
          const lease = await this.#tried(`${runId}/slot-${n}`)
          if (lease === null) continue
          this.#taken.add(n)
          const release = () => lease.release().finally(() => this.#taken.delete(n))
          return { lost: lease.lost, release }
        }
        await wait(SLOT_LOOK_MS)
      }
      return null
    })
  }

  /** A failed request counts as a lease of another process. */
  async #tried(name: string): Promise<Lease | null> {
    return this.#ports.lease!(name).catch((error: Error) => {
      this.#ports.warn?.(this.#options.runId, error.message)
      return null
    })
  }
}

/** The lease when none is needed. */
const HELD: Lease = { lost: new AbortController().signal, release: async () => undefined }
