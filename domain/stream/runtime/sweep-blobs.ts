import { AGGREGATES } from '../../kinds.ts'
import { LogError } from '../../log/errors.ts'
import { kindOf } from '../../log/owner.ts'
import type { BlobIntent, BlobIntents } from '../../ports/index.ts'
import type { AnyAggregate } from '../aggregate.ts'
import { bodyOf } from './bodies.ts'
import type { Stores } from './ports.ts'

/**
 * Removes what writers that died have stored for appends that never came to be, and what those that died while they erased
 * have left of it. Before anything is written; reads only the streams of such writers. Returns how many blobs were removed.
 * Where a stream cannot be read, its events may name any blob: its blobs and notes stay, and `warn` says so.
 */
export async function sweepBlobs(
  ports: SweepPorts,
  warn: (text: string) => void = () => undefined,
  aggregates: ReadonlyMap<string, AnyAggregate> = AGGREGATES,
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

/** Which blobs the events of a stream name. Reads bodies only where the headers do not name all that is `left`. */
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

/** Attachments: their addresses stand in bodies. Throws at the first event that this program cannot read. */
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
