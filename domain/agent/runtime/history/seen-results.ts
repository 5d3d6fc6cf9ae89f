import type { EventLog } from '../../../ports/index.ts'

const MOST = 1_000

/** A bounded map that drops the oldest keys. */
class Recent<V> {
  private readonly held = new Map<string, V>()

  get(key: string): V | undefined {
    return this.held.get(key)
  }

  set(key: string, value: V): void {
    this.held.delete(key)
    this.held.set(key, value)
    if (this.held.size > MOST) this.held.delete(this.held.keys().next().value as string)
  }
}

/**
 * Results that this process has located and verified. A reader requests a long result part by part; without the cache,
 * each part would scan the stream and verify the whole result.
 */
export class SeenResults {
  /**
   * By agent and call: the place of the event that ended the call. Only a hint: the event there is read and compared.
   */
  readonly places = new Recent<{ readonly stream: string; readonly revision: number }>()
  readonly proved = new Recent<true>()
}

const seen = new WeakMap<EventLog, SeenResults>()

export function seenResults(log: EventLog): SeenResults {
  const known = seen.get(log) ?? new SeenResults()
  seen.set(log, known)
  return known
}
