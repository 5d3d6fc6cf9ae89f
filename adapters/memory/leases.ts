import type { Clock, Leases } from '../../domain/ports/index.ts'
import { checkTtl } from './lease-ttl.ts'

/** Leases within one process, for tests. The reference implementation of the contract. */
export class MemoryLeases implements Leases {
  readonly #clock: Pick<Clock, 'now'>
  readonly #held = new Map<string, { readonly driverId: string; readonly until: number }>()
  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  async acquire(agentId: string, driverId: string, ttlMs: number): Promise<boolean> {
    checkTtl(ttlMs)
    const now = this.#clock.now()
    const held = this.#held.get(agentId)
    if (held && held.driverId !== driverId && held.until > now) return false
    this.#held.set(agentId, { driverId, until: now + ttlMs })
    return true
  }

  async release(agentId: string, driverId: string): Promise<void> {
    if (this.#held.get(agentId)?.driverId === driverId) this.#held.delete(agentId)
  }
}
