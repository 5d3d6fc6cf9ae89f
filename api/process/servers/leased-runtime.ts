import { Runtime } from '../../../domain/agent/runtime/runtime.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentOf } from '../../../domain/log/owner.ts'
import type { RuntimePorts } from '../../../domain/ports/runtime.ts'
import { passes } from '../../../domain/stream/runtime/append-retry.ts'
import type { DriveEnd, DriveOptions } from '../../../domain/tree/runtime/drive.ts'
import { type LeaseOptions, takeLease } from './lease.ts'

export interface LeasedOptions extends LeaseOptions {
  /** The name of this process among the drivers. */
  readonly holder: string
  /** Aborts when this process ends. */
  readonly closed: AbortSignal
}

/** The first and the longest pause before the log is read again, in ms. The pause doubles each time. */
const AGAIN_MS = [100, 5_000] as const

/**
 * A runtime that shares a log with others. Leases decide which process tries to drive a run and its agents; the epoch
 * in the log decides which one drives. The runtime follows the events of other processes about agents that it drives.
 */
export class LeasedRuntime extends Runtime {
  readonly #ports: RuntimePorts
  readonly #options: LeasedOptions
  #hearing: Promise<void> | null = null
  /** Agents whose refresh is being retried until the log answers. */
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

  /** Resolves when this process follows the log. After a failure the next drive tries again. */
  #heard(): Promise<void> {
    this.#hearing ??= this.#hear().catch((error: unknown) => {
      this.#hearing = null
      throw error
    })
    return this.#hearing
  }

  /** Resolves when every later event will be received. */
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
      // A current drive notices changes at its next append. The next drive subscribes again.
      this.#hearing = null
      warn?.('log', `what other processes record is heard late: ${error.message}`)
    })
  }

  /**
   * Refreshes an agent. Retries if the log does not answer, because the cancel of a long call must not wait for the
   * next event.
   */
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

/**
 * False for events of drivers, because a driver in this process knows them already. Claims of other processes count as
 * foreign.
 */
const isForeign = ({ header }: RecordedEvent): boolean =>
  header.driver === undefined || header.type === 'driver_claimed'
