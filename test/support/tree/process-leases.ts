import type { Lease } from '../../../domain/ports/runtime.ts'
import type { Process } from '../process.ts'

/** Leases of several processes, by name. They expire when their holder dies or is {@link suspend}ed. */
export class ProcessLeases {
  private readonly held = new Map<string, { readonly process: Process; readonly lost: AbortController }>()

  /** Null: another live process has the lease. */
  async take(process: Process, name: string): Promise<Lease | null> {
    const held = this.held.get(name)
    if (held !== undefined && !held.process.dead && held.process !== process) return null
    const own = { process, lost: new AbortController() }
    this.held.set(name, own)
    return {
      lost: own.lost.signal,
      release: async () => {
        if (this.held.get(name) === own) this.held.delete(name)
      },
    }
  }

  /** Expires the leases of a process, as for a stopped process. */
  suspend(process: Process): void {
    for (const [name, one] of this.held) {
      if (one.process !== process) continue
      this.held.delete(name)
      one.lost.abort(new Error('it has passed'))
    }
  }
}
