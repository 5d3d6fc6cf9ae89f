import { MemoryLog } from '../../../adapters/memory/log.ts'
import { agent } from '../../../domain/agent/decide/aggregate.ts'
import type { AgentState } from '../../../domain/agent/state/state.ts'
import { asBlob } from '../../../domain/log/blobs.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { chained, unsealed } from '../../../domain/stream/sealing.ts'
import type { Book } from './agents.ts'

interface Batch {
  readonly stream: string
  readonly expected: number
  readonly events: readonly SealedEvent[]
  /** The state after the batch. */
  readonly after: AgentState
}

interface Options {
  readonly startsAt?: number
  /** Types of events with bodies in the blob store. */
  readonly blobs?: readonly string[]
}

/** The simulated streams of a tree in the form of a log: sealed, chained, one append per decision. */
export class Recorded implements Book {
  readonly startsAt: number
  readonly batches: Batch[] = []
  readonly stored: { readonly owner: string; readonly hash: string; readonly bytes: Uint8Array }[] = []
  private readonly blobs: readonly string[]
  private readonly streams = new Map<string, SealedEvent[]>()

  constructor({ startsAt = Date.UTC(2026, 0, 18), blobs = [] }: Options = {}) {
    this.startsAt = startsAt
    this.blobs = blobs
  }

  record(agentId: string, decided: Parameters<Book['record']>[1]): void {
    const stream = agentStream(agentId)
    const before = this.streams.get(agentId) ?? []
    const last = before.at(-1)
    const head = last === undefined ? null : { revision: before.length - 1, hash: last.hash }
    const drafts = unsealed(agent, decided, {})
    const large = drafts.flatMap(({ header }, nth) => (this.blobs.includes(header.type) ? [nth] : []))
    for (const nth of large) {
      const { header, bytes } = asBlob(drafts[nth]!.body)
      this.stored.push({ owner: ownerOf({ stream, ...drafts[nth]!.header }), hash: header.hash, bytes })
    }
    const events = chained(stream, head, drafts, new Set(large))
    this.streams.set(agentId, [...before, ...events])
    this.batches.push({ stream, expected: before.length - 1, events, after: decided.at(-1)!.after })
  }

  hashOf(agentId: string, revision: number): string {
    return this.streams.get(agentId)![revision]!.hash
  }

  /** Appends everything to a log, in the original order. Calls `each` after every append. */
  async into(log: EventLog, each: (batch: Batch, nth: number) => Promise<void> = async () => undefined): Promise<void> {
    for (const [nth, batch] of this.batches.entries()) {
      await log.append(batch.stream, batch.expected, batch.events, 10_000)
      await each(batch, nth)
    }
  }

  async store(blobs: BlobStore): Promise<void> {
    for (const { owner, hash, bytes } of this.stored) await blobs.put(owner, hash, bytes)
  }
}

/** An in-memory log that is older than any simulated tree. */
export const emptyLog = () => new MemoryLog({ clock: { now: () => Date.UTC(2026, 0, 17) } })
