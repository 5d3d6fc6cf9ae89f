import { keyOf } from '../../log/ids.ts'
import type { EventLog } from '../../ports/index.ts'
import type { AnyAggregate } from '../aggregate.ts'

/** The requests that a stream has recorded. For requests that the state has forgotten, reads the stream once. */
export class RecordedRequests {
  private readonly log: EventLog
  private readonly stream: string
  private readonly aggregate: Pick<AnyAggregate, 'reject' | 'remembered'>
  /** The command ids of all keyed requests, by the prefix that identifies their key; null before a lookup. */
  private keys: Map<string, string> | null = null

  constructor(log: EventLog, stream: string, aggregate: Pick<AnyAggregate, 'reject' | 'remembered'>) {
    this.log = log
    this.stream = stream
    this.aggregate = aggregate
  }

  /** Approximate memory use, bytes. */
  get bytes(): number {
    return (this.keys?.size ?? 0) * 192
  }

  /** Adds the command id of a recorded event. */
  note(commandId: string): void {
    if (this.keys !== null) noteKey(this.keys, commandId)
  }

  /**
   * Whether this request is recorded, up to revision `last`. `remembered`: the command ids that the state remembers.
   * Rejects with IDEMPOTENCY_KEY_REUSED when its key came with another request.
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

/** Whether the request recorded under a key is this request. Throws `IDEMPOTENCY_KEY_REUSED` for another one. */
export function isRepeated(
  { reject }: Pick<AnyAggregate, 'reject'>,
  recorded: string | undefined,
  commandId: string,
): boolean {
  if (recorded === undefined || recorded === commandId) return recorded === commandId
  throw reject('IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key came with another request before; draw a new one')
}
