import { LogError } from '../../log/errors.ts'
import { kindOf } from '../../log/owner.ts'
import type { BlobIntent, BlobIntents } from '../../ports/index.ts'
import type { AnyAggregate } from '../aggregate.ts'
import { bodyOf } from './bodies.ts'
import type { Stores } from './ports.ts'

/**
 * Deletes the blobs that dead writers left behind: blobs of appends that never reached the log, and blobs of unfinished
 * erasures. Call it before the first write. Reads only the streams of dead writers. Returns the number of deleted
 * blobs. An unreadable stream may name any blob: its blobs and intents stay, and `warn` reports it.
 */
export async function sweepBlobs(
  ports: SweepPorts,
  aggregates: ReadonlyMap<string, AnyAggregate>,
  warn: (text: string) => void = () => undefined,
): Promise<number> {
  let removed = 0
  for (const [stream, left] of Map.groupBy(await ports.intents.left(), (intent) => intent.stream)) {
    try {
      const named = await namedIn(ports, aggregates.get(kindOf(stream)), stream, left)
      for (const { runId, hash } of left) {
        if (named.has(hash)) continue
        await ports.blobs.delete(runId, hash)
        removed++
      }
      await ports.intents.end(left)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      warn(`${left.length} stored bodies of ${stream} stay, because not all that its events name is known: ${why}`)
    }
  }
  return removed
}

type SweepPorts = Stores & { readonly intents: BlobIntents }

/** The hashes of the blobs that a stream's events name. Reads bodies only if the headers do not name all of `left`. */
async function namedIn(
  stores: Stores,
  aggregate: AnyAggregate | undefined,
  stream: string,
  left: readonly BlobIntent[],
): Promise<ReadonlySet<string>> {
  const named = new Set<string>()
  for await (const page of stores.log.read(stream, { bodies: false })) {
    for (const { header, erased } of page) if (!erased) named.add(header.body.hash)
  }
  if (left.some(({ hash }) => !named.has(hash))) await addAttached(stores, aggregate, stream, named)
  return named
}

/** Adds the hashes of attachments, which only bodies contain. Throws at the first unreadable event. */
async function addAttached(
  stores: Stores,
  aggregate: AnyAggregate | undefined,
  stream: string,
  named: Set<string>,
): Promise<void> {
  if (aggregate === undefined)
    throw new LogError('UNKNOWN_EVENT', `streams such as ${stream} are not known here; use the keepup that wrote it`)
  const { attaching, claim } = aggregate
  for await (const page of stores.log.read(stream)) {
    for (const event of page) {
      const { header, erased } = event
      aggregate.checkKnown(header)
      if (erased || !(attaching?.has(header.type) || header.type === claim)) continue
      const bytes = await bodyOf(stores, event)
      if (header.type === claim) aggregate.decode(header, bytes)
      const attachment = aggregate.attachment?.(header, bytes)
      if (attachment !== undefined) named.add(attachment.hash)
    }
  }
}
