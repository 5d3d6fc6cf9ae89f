import type { RequestCache } from '../../../domain/ports/index.ts'

/** A cache that drops no entries by itself. */
export class MemoryRequestCache implements RequestCache {
  readonly held = new Map<string, string>()
  private fault: Error | null = null

  /** Replaces every answer. */
  spoil(answer: string): void {
    for (const key of this.held.keys()) this.held.set(key, answer)
  }
  /** Makes every later call fail. */
  breakDown(fault: Error): void {
    this.fault = fault
  }

  async get(key: string): Promise<string | null> {
    if (this.fault) throw this.fault
    return this.held.get(key) ?? null
  }
  async put(key: string, answer: string): Promise<void> {
    if (this.fault) throw this.fault
    this.held.set(key, answer)
  }
  async clear(): Promise<void> {
    this.held.clear()
  }
}
