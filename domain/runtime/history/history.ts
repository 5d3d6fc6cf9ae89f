import { decode } from '../../agent/events/codec.ts'
import type { AgentEvent } from '../../agent/events/events.ts'
import type { RecordedEvent, SealedEvent } from '../../log/envelope.ts'
import { agentStream } from '../../log/ids.ts'
import type { Head } from '../../ports.ts'
import { Residues } from '../erasure/residues.ts'
import { atHand, bodyOf, erasedError, type Stores } from './bodies.ts'

/** A decoded event beside the recorded one it came from. */
export interface Remembered {
  readonly event: AgentEvent
  readonly recorded: RecordedEvent
}

/**
 * An agent's whole history in order, in pages: for a fork the prefix of its source first, then its own stream.
 * `to`: the last revision of the agent's own stream that is wanted.
 */
export async function* history(
  stores: Stores,
  agentId: string,
  options: { from?: number; to?: number } = {},
): AsyncGenerator<readonly Remembered[]> {
  yield* streamHistory(stores, agentStream(agentId), options.from ?? 0, options.to ?? Number.POSITIVE_INFINITY)
}

/** The first event of a stream, by itself: that of a fork names its source. Null: there is no such stream. */
export async function firstOf(stores: Stores, stream: string): Promise<AgentEvent | null> {
  for await (const [first] of ownHistory(stores, stream, 0, 0)) if (first !== undefined) return first.event
  return null
}

async function* streamHistory(
  stores: Stores,
  stream: string,
  from: number,
  to: number,
): AsyncGenerator<readonly Remembered[]> {
  for await (const page of ownHistory(stores, stream, from, to)) {
    const first = page[0]?.event
    if (first?.type === 'forked') yield* streamHistory(stores, first.body.stream, 0, first.body.revision)
    yield page
  }
}

async function* ownHistory(
  stores: Stores,
  stream: string,
  from: number,
  to: number,
): AsyncGenerator<readonly Remembered[]> {
  const limit = to === Number.POSITIVE_INFINITY ? {} : { limit: to - from + 1 }
  const residues = new Residues(stores, stream)
  for await (const page of stores.log.read(stream, { from, ...limit })) {
    const remembered: Remembered[] = []
    for (const recorded of page) {
      const left = recorded.erased ? await residues.of(recorded.header) : null
      if (recorded.erased && left === null) {
        // What comes before can still be told.
        if (remembered.length > 0) yield remembered
        throw erasedError(recorded.header)
      }
      // Nearly all bodies are at hand, and a wait for each would cost more than its reading.
      const event = left ?? decode(recorded.header, atHand(recorded) ?? (await bodyOf(stores, recorded)))
      remembered.push({ event, recorded })
    }
    yield remembered
  }
}

export const headOf = ({ header, hash }: SealedEvent): Head => ({
  revision: header.revision,
  hash,
  timestamp: Date.parse(header.timestamp),
})
