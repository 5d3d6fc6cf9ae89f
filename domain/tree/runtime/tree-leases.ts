import { agent } from '../../agent/decide/aggregate.ts'
import type { AgentState } from '../../agent/state/state.ts'
import { agentStream } from '../../log/ids.ts'
import type { Lease, RuntimePorts } from '../../ports/runtime.ts'
import { Mutex, Semaphore } from '../../stream/runtime/concurrency.ts'
import { firstOf } from '../../stream/runtime/history.ts'

/** How often is looked whether another process still holds what is wanted here, ms. */
export const LOOK_MS = 500
const SLOT_LOOK_MS = 200

type Ports = Pick<RuntimePorts, 'lease' | 'clock' | 'warn'>
interface Options {
  readonly runId: string
  /** Agents of the run at work at once, over all processes. */
  readonly atOnce: number
  /** Aborts when nothing is begun any more. */
  readonly stopped: AbortSignal
}

/**
 * What this process holds of a run that several drive: the run itself, with the agents that work in its folder; each other
 * agent while it is at work here; and the slots of those at work. Where one process drives alone, it holds everything.
 */
export class TreeLeases {
  readonly #ports: Ports
  readonly #options: Options
  readonly #local: Semaphore
  /** One look for a slot at a time. */
  readonly #looking = new Mutex()
  readonly #taken = new Set<number>()
  #run: Lease | null = null
  /** When to try again to hold the run, ms. */
  #retryAt = 0
  #lostBefore = false

  constructor(ports: Ports, options: Options) {
    this.#ports = ports
    this.#options = options
    this.#local = new Semaphore(options.atOnce)
  }

  /** Do other processes drive too? */
  get shared(): boolean {
    return this.#ports.lease !== undefined
  }

  get holdsRun(): boolean {
    return !this.shared || (this.#run !== null && !this.#run.lost.aborted)
  }

  /** The run was held here once, and others may have taken it. */
  get wasLost(): boolean {
    return this.#lostBefore || this.#run?.lost.aborted === true
  }

  /** When to look again whether the run can be held, ms. */
  get wakeAt(): number {
    return this.holdsRun ? Number.POSITIVE_INFINITY : this.#retryAt
  }

  /** Tries to hold the run. True: it is held from now on. Rejects where that cannot be learnt. */
  async takeRun(): Promise<boolean> {
    const { lease } = this.#ports
    return lease !== undefined && this.#hold(await lease(this.#options.runId))
  }

  /** Tries to hold the run where it is not, now and then. True: it is held from now on. */
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

  /** Does the agent go with the run: its root, and what works in the run's folder? */
  ofRun({ agentId, spec }: Pick<AgentState, 'agentId' | 'spec'>): boolean {
    return agentId === this.#options.runId || spec.workspace !== null
  }

  /**
   * Does the work of an agent while it, or its run where it goes with it, is held here with a slot of the run. `lost` aborts
   * when one of them is lost. False: another process has it, or nothing is begun any more.
   */
  work(state: AgentState, work: (lost: AbortSignal) => Promise<void>): Promise<boolean> {
    return this.#local.run(async () => {
      const ofRun = this.ofRun(state)
      if (ofRun && !this.holdsRun) return false
      // One that can have no other agents beside it needs no slot.
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
    const { runId, atOnce, stopped } = this.#options
    const wait = (ms: number) => this.#ports.clock.sleep(ms, stopped).catch(() => undefined)
    return this.#looking.run(async () => {
      // Processes with fewer slots come first, so that the work is shared.
      if (this.#taken.size > 0) await wait(Math.ceil((SLOT_LOOK_MS * this.#taken.size) / atOnce))
      while (!stopped.aborted) {
        for (let n = 0; n < atOnce; n++) {
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

  /** What cannot be learnt now is tried again as what another process has. */
  async #tried(name: string): Promise<Lease | null> {
    return this.#ports.lease!(name).catch((error: Error) => {
      this.#ports.warn?.(this.#options.runId, error.message)
      return null
    })
  }
}

/** Are there agents that a process may drive that does not hold the run? */
export async function mayHelp(ports: RuntimePorts, runId: string): Promise<boolean> {
  const first = await firstOf(ports, agent, agentStream(runId))
  if (first?.type !== 'agent_started') return false
  const { delegation, workspace } = first.body.spec
  return delegation !== undefined && workspace === null
}

/** Where no lease is needed. */
const HELD: Lease = { lost: new AbortController().signal, release: async () => undefined }
