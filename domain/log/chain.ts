import type { SealedEvent } from './envelope.ts'
import { LogError } from './errors.ts'
import { chainHash, chainHashOf, eventId, GENESIS, sealedAfter } from './seal.ts'

// Separate from batch.ts: the writer thread imports this file and must start without loading zod.

const invalid = (message: string) => new LogError('APPEND_INVALID', message)

/** A sealed event, with the canonical text of its header when the caller has it. */
export interface Chained extends SealedEvent {
  readonly canonical?: string
}

/**
 * Checks that each event's hash and id follow from the hash before it. `previous`: the hash before the batch, hex
 * (GENESIS at the start of a stream). Returns the last hash. Throws `APPEND_INVALID`.
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
 * Checks that a batch follows a stream's head (null: the stream is new): its first event chains to the head and is not
 * older. `after`: the hash that the batch is known to chain to. Throws `APPEND_INVALID`.
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
