import { keyOf } from '../../log/ids.ts'
import type { EventLog } from '../../ports/index.ts'
import type { AnyAggregate } from '../aggregate.ts'
import { isRepeated } from './repeated.ts'

/** Requests that a stream has recorded. What the state may have forgotten is looked up in the stream, which is read once. */
export class RecordedRequests {
  private readonly log: EventLog
  private readonly stream: string
  private readonly aggregate: Pick<AnyAggregate, 'reject' | 'remembered'>
  /** Keyed requests of the whole stream, by what tells their key; null before they were needed. */
  private keys: Map<string, string> | null = null

  constructor(log: EventLog, stream: string, aggregate: Pick<AnyAggregate, 'reject' | 'remembered'>) {
    this.log = log
    this.stream = stream
    this.aggregate = aggregate
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return (this.keys?.size ?? 0) * 192
  }

  /** An event was recorded. */
  note(commandId: string): void {
    if (this.keys !== null) noteKey(this.keys, commandId)
  }

  /**
   * Was this request recorded, up to the last revision? `remembered`: what the state still knows. Rejects where its key came
   * with another request.
   */
  async has(commandId: string, remembered: readonly string[], last: number): Promise<boolean> {
    const key = keyOf(commandId)
    if (key === null) return remembered.includes(commandId)
    const recorded = remembered.find((one) => keyOf(one) === key)
    if (recorded !== undefined || remembered.length < this.aggregate.remembered)
      return isRepeated(this.aggregate, recorded, commandId)
    this.keys ??= await this.read(last)
    return isRepeated(this.aggregate, this.keys.get(key), commandId)
  }

  private async read(last: number): Promise<Map<string, string>> {
    const keys = new Map<string, string>()
    for await (const page of this.log.read(this.stream, { limit: last + 1, bodies: false })) {
      for (const { header } of page) noteKey(keys, header.commandId)
    }
    return keys
  }
}

function noteKey(keys: Map<string, string>, commandId: string): void {
  const key = keyOf(commandId)
  if (key !== null) keys.set(key, commandId)
}
