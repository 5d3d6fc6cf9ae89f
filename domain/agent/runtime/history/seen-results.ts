import type { EventLog } from '../../../ports/index.ts'

const MOST = 1_000

/** The newest few of many keys, so that memory stays small. */
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
 * Results that this process has looked up and proved. A reader asks for a long result part by part: without it each part
 * would cost a walk over the stream and a proof of the whole result.
 */
export class SeenResults {
  /** Where the event that ended a call stands, by agent and call. A hint: the event there is read and compared. */
  readonly places = new Recent<{ readonly stream: string; readonly revision: number }>()
  /** Attachments that were what their event says, by run and hash. */
  readonly proved = new Recent<true>()
}

const seen = new WeakMap<EventLog, SeenResults>()

/** The part of a log that this process has seen. */
export function seenResults(log: EventLog): SeenResults {
  const known = seen.get(log) ?? new SeenResults()
  seen.set(log, known)
  return known
}
