import type { SealedEvent } from './envelope.ts'
import { LogError } from './errors.ts'
import { chainHash, chainHashOf, eventId, GENESIS, sealedAfter } from './seal.ts'

// Apart from batch.ts so that a writer's thread starts without loading zod.

const invalid = (message: string) => new LogError('APPEND_INVALID', message)

/** A sealed event, with its header's canonical text where that is at hand. */
export interface Chained extends SealedEvent {
  readonly canonical?: string
}

/**
 * Checks that each event's hash and id follow from the hash before it, from `previous` on (hex; GENESIS at the start of
 * a stream). Returns the last hash. Throws `APPEND_INVALID`.
 */
export function checkChain(previous: string, batch: readonly Chained[]): string {
  let hash = previous
  for (const event of batch) {
    if (sealedAfter(event) === hash) {
      hash = event.hash
      continue
    }
    hash = event.canonical === undefined ? chainHash(hash, event.header) : chainHashOf(hash, event.canonical)
    if (event.hash !== hash || event.id !== eventId(hash))
      throw invalid(
        `revision ${event.header.revision} of ${event.header.stream} does not chain to the event before it; ` +
          'read the head and seal again',
      )
  }
  return hash
}

/**
 * Checks a batch that is to stand right after a stream's head (null: the stream is new): chained to it, not older than
 * it. `after`: the hash that the batch is known to be chained to. Throws `APPEND_INVALID`.
 */
export function checkNext(
  head: { hash: string; timestamp: string } | null,
  batch: readonly Chained[],
  after?: string,
): void {
  const previous = head?.hash ?? GENESIS
  if (after !== previous) checkChain(previous, batch)
  const first = batch[0]?.header
  if (head && first && first.timestamp < head.timestamp)
    throw invalid(`revision ${first.revision} of ${first.stream} is older than the event before it; clamp its time`)
}
