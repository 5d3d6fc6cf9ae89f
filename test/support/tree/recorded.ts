import { MemoryLog } from '../../../adapters/log-memory/log.ts'
import { agent } from '../../../domain/agent/decisions/aggregate.ts'
import type { AgentState } from '../../../domain/agent/state/state.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import type { EventLog } from '../../../domain/ports.ts'
import { chained, unsealed } from '../../../domain/stream/sealing.ts'
import type { Book } from './agents.ts'

interface Batch {
  readonly stream: string
  readonly expected: number
  readonly events: readonly SealedEvent[]
  /** The state after them. */
  readonly after: AgentState
}

/** The simulated streams of a tree as a log holds them: sealed, chained, each decision in one append. */
export class Recorded implements Book {
  readonly batches: Batch[] = []
  private readonly streams = new Map<string, SealedEvent[]>()

  record(agentId: string, decided: Parameters<Book['record']>[1]): void {
    const stream = agentStream(agentId)
    const before = this.streams.get(agentId) ?? []
    const last = before.at(-1)
    const head = last === undefined ? null : { revision: before.length - 1, hash: last.hash }
    const events = chained(stream, head, unsealed(agent, decided, {}), new Set())
    this.streams.set(agentId, [...before, ...events])
    this.batches.push({ stream, expected: before.length - 1, events, after: decided.at(-1)!.after })
  }

  hashOf(agentId: string, revision: number): string {
    return this.streams.get(agentId)![revision]!.hash
  }

  /** Appends everything to a log, in the order in which it happened; `each` is called after every append. */
  async into(log: EventLog, each: (batch: Batch, nth: number) => Promise<void> = async () => undefined): Promise<void> {
    for (const [nth, batch] of this.batches.entries()) {
      await log.append(batch.stream, batch.expected, batch.events, 10_000)
      await each(batch, nth)
    }
  }
}

/** A log in memory that is older than any simulated tree. */
export const emptyLog = () => new MemoryLog({ clock: { now: () => Date.UTC(2026, 0, 17) } })
