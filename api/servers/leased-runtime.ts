import { CommandRejected } from '../../domain/agent/errors.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { agentOf } from '../../domain/log/owner.ts'
import { Runtime } from '../../domain/runtime/agent/runtime.ts'
import type { RuntimePorts } from '../../domain/runtime/ports.ts'
import type { DriveEnd, DriveOptions } from '../../domain/runtime/types.ts'
import { type Lease, type LeaseOptions, takeLease } from './lease.ts'

export interface LeasedOptions extends LeaseOptions {
  /** Names this process among those who drive. */
  readonly holder: string
  /** Aborts when this process ends. */
  readonly closed: AbortSignal
}

/** How often a waiting process looks whether another process still drives, ms. */
const LOOK_MS = 500

/**
 * A runtime beside others over the same log. A lease per run says who tries; the epoch in the log says who drives. What
 * other processes record about an agent that is driven here is heard here.
 */
export class LeasedRuntime extends Runtime {
  readonly #ports: RuntimePorts
  readonly #options: LeasedOptions
  #hearing: Promise<void> | null = null

  constructor(ports: RuntimePorts, options: LeasedOptions) {
    super(ports)
    this.#ports = ports
    this.#options = options
  }

  override async drive(agentId: string, options: DriveOptions): Promise<DriveEnd> {
    const { waits = true } = options
    const runId = await this.runOf(agentId)
    const over = AbortSignal.any([options.signal, ...(options.drain ? [options.drain] : [])])
    for (;;) {
      const lease = await this.#take(runId, waits, over)
      if (lease === null) return { end: 'interrupted' }
      let end: DriveEnd
      try {
        await this.#heard()
        // Promised effects are still performed and recorded; the next driver claims the agent meanwhile, or after that.
        const drain = AbortSignal.any([...(options.drain ? [options.drain] : []), lease.lost])
        end = await super.drive(runId, { ...options, drain })
      } finally {
        await lease.release()
      }
      const elsewhere = end.end === 'overtaken' || (end.end === 'interrupted' && lease.lost.aborted)
      if (!elsewhere || !waits || over.aborted) return end
    }
  }

  /** Null: the signal aborted while another process drove. */
  async #take(agentId: string, waits: boolean, signal: AbortSignal): Promise<Lease | null> {
    while (!signal.aborted) {
      const lease = await takeLease(this.#options, agentId, this.#options.holder)
      if (lease !== null) return lease
      if (!waits) throw new CommandRejected('RUN_DRIVEN', `${agentId} is being driven by another process`)
      await this.#options.clock.sleep(LOOK_MS, signal).catch(() => undefined)
    }
    return null
  }

  /** Resolves once this process listens. What failed is begun anew by the next drive. */
  #heard(): Promise<void> {
    this.#hearing ??= this.#hear().catch((error: unknown) => {
      this.#hearing = null
      throw error
    })
    return this.#hearing
  }

  /** Resolves when everything is heard that is recorded from then on. */
  async #hear(): Promise<void> {
    const { log, warn } = this.#ports
    const after = await log.headCursor()
    const listen = async () => {
      for await (const page of log.subscribe(after, this.#options.closed)) {
        const agents = new Set(page.filter(isForeign).map(({ header }) => agentOf(header)))
        for (const agentId of agents) this.refresh(agentId).catch(() => undefined)
      }
    }
    void listen().catch((error: Error) => {
      if (this.#options.closed.aborted) return
      // A running drive notices it at its next append; the next drive listens anew.
      this.#hearing = null
      warn?.('log', `what other processes record is heard late: ${error.message}`)
    })
  }
}

/** What the driver of this process writes it knows already. */
const isForeign = ({ header }: RecordedEvent): boolean =>
  header.driver === undefined || header.type === 'driver_claimed'
