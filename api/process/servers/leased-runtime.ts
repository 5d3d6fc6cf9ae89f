import { Runtime } from '../../../domain/agent/runtime/runtime.ts'
import type { DriveEnd, DriveOptions } from '../../../domain/agent/runtime/types.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentOf } from '../../../domain/log/owner.ts'
import type { RuntimePorts } from '../../../domain/ports/runtime.ts'
import { passes } from '../../../domain/stream/runtime/retry.ts'
import { type LeaseOptions, takeLease } from './lease.ts'

export interface LeasedOptions extends LeaseOptions {
  /** Names this process among those who drive. */
  readonly holder: string
  /** Aborts when this process ends. */
  readonly closed: AbortSignal
}

/** The pauses before the log is asked again double, from the first to the longest, ms. */
const AGAIN_MS = [100, 5_000] as const

/**
 * A runtime beside others over the same log. Leases say who tries to drive a run and its agents; the epoch in the log says who
 * drives. What other processes record about an agent that is driven here is heard here.
 */
export class LeasedRuntime extends Runtime {
  readonly #ports: RuntimePorts
  readonly #options: LeasedOptions
  #hearing: Promise<void> | null = null
  /** Agents that are looked at again and again until the log answers. */
  readonly #late = new Set<string>()

  constructor(ports: RuntimePorts, options: LeasedOptions) {
    super({ ...ports, lease: (name) => takeLease(options, name, options.holder) })
    this.#ports = ports
    this.#options = options
  }

  override async drive(agentId: string, options: DriveOptions): Promise<DriveEnd> {
    await this.#heard()
    return super.drive(agentId, options)
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
        for (const agentId of agents) void this.#look(agentId)
      }
    }
    void listen().catch((error: Error) => {
      if (this.#options.closed.aborted) return
      // A drive at work finds out at its next append; the next drive listens anew.
      this.#hearing = null
      warn?.('log', `what other processes record is heard late: ${error.message}`)
    })
  }

  /** Where the log does not answer now it is asked again: the cancel of a long call must not wait for the next event. */
  async #look(agentId: string): Promise<void> {
    const { clock, closed } = this.#options
    const looked = () =>
      this.refresh(agentId).then(
        () => true,
        (error: unknown) => !passes(error),
      )
    if ((await looked()) || this.#late.has(agentId)) return
    this.#late.add(agentId)
    for (let [over, pause] = [false, AGAIN_MS[0] as number]; !over && !closed.aborted; pause *= 2) {
      await clock.sleep(Math.min(pause, AGAIN_MS[1]), closed).catch(() => undefined)
      over = await looked()
    }
    this.#late.delete(agentId)
  }
}

/** False for events of drivers: one of this process knows them already. Claims of other processes count. */
const isForeign = ({ header }: RecordedEvent): boolean =>
  header.driver === undefined || header.type === 'driver_claimed'
