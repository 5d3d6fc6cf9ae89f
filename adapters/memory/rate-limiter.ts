import type { Clock, RateLimiter } from '../../domain/ports/index.ts'
import { paceOf, type SharedLimit } from './rate-limit.ts'

/**
 * Rate limits within one process: the embedded default, and the reference implementation of the contract. Times are in
 * ms since the epoch.
 */
export class MemoryLimiter implements RateLimiter {
  readonly #clock: Pick<Clock, 'now'>
  readonly #limitOf: (model: string) => SharedLimit
  /** `blocked`: no call before this time. `next`: when the next call is due at the configured pace. */
  readonly #gates = new Map<string, { blocked: number; next: number }>()

  constructor(clock: Pick<Clock, 'now'>, limitOf: (model: string) => SharedLimit) {
    this.#clock = clock
    this.#limitOf = limitOf
  }

  async admit(model: string): Promise<number> {
    const limit = this.#limitOf(model)
    const { everyMs, aheadMs } = paceOf(limit)
    const gate = this.#gate(limit.key)
    const now = this.#clock.now()
    const wait = Math.max(0, gate.blocked - now, gate.next - aheadMs - now)
    if (wait === 0) gate.next = Math.max(gate.next, now) + everyMs
    return Math.ceil(wait)
  }

  async refused(model: string, retryAfterMs: number): Promise<void> {
    const gate = this.#gate(this.#limitOf(model).key)
    gate.blocked = Math.max(gate.blocked, this.#clock.now() + retryAfterMs)
  }

  #gate(key: string): { blocked: number; next: number } {
    const gate = this.#gates.get(key) ?? { blocked: 0, next: 0 }
    this.#gates.set(key, gate)
    return gate
  }
}
