import { ATTACHING } from '../agent/events/attachment.ts'
import { notWritten } from '../log/errors.ts'
import type { BlobIntent, BlobIntents, BlobStore, EventLog } from '../ports.ts'
import { attachmentIn } from './history/attachments.ts'
import { bodyOf, type Stores } from './history/bodies.ts'

interface Ports {
  readonly blobs: BlobStore
  readonly intents?: BlobIntents
}

/** Bytes and the salted hash that is their address. */
export interface Addressed {
  readonly bytes: Uint8Array
  readonly header: { readonly hash: string }
}

/**
 * The blobs of one append. That they are to be stored is noted before, and taken back when the log has told what became
 * of it: a blob that no event names could never be erased.
 */
export class BlobWrites {
  private readonly ports: Ports
  private readonly place: Pick<BlobIntent, 'stream' | 'runId'>
  private readonly stored = new Map<string, BlobIntent>()

  constructor(ports: Ports, place: Pick<BlobIntent, 'stream' | 'runId'>) {
    this.ports = ports
    this.place = { stream: place.stream, runId: place.runId }
  }

  /** Stores those that are not stored yet; says whether there were any. */
  async put(bodies: readonly Addressed[]): Promise<boolean> {
    const { blobs, intents } = this.ports
    const missing = bodies.filter(({ header }) => !this.stored.has(header.hash))
    if (missing.length === 0) return false
    const noted = missing.map(({ header }) => ({ ...this.place, hash: header.hash }))
    await intents?.begin(noted)
    for (const [index, { header, bytes }] of missing.entries()) {
      this.stored.set(header.hash, noted[index]!)
      await blobs.put(this.place.runId, header.hash, bytes)
    }
    return true
  }

  /** The append is in the log and names these. Others of a decision that was made again belong to nothing. */
  async named(hashes: readonly string[]): Promise<void> {
    if (this.stored.size === 0) return
    const named = new Set(hashes)
    await this.drop([...this.stored.values()].filter(({ hash }) => !named.has(hash)))
    await this.end([...this.stored.values()])
  }

  /** The append was refused: another one draws other salts, and so other addresses. Where that is not known, all stays. */
  async refused(error: unknown): Promise<void> {
    if (notWritten(error)) await this.drop([...this.stored.values()])
  }

  private async drop(unnamed: readonly BlobIntent[]): Promise<void> {
    for (const intent of unnamed) {
      const gone = await this.ports.blobs.delete(intent.runId, intent.hash).then(
        () => true,
        () => false,
      )
      if (!gone) continue
      this.stored.delete(intent.hash)
      await this.end([intent])
    }
  }

  /** A note that stays is looked into at the next start: it must not turn what the log has told into a failure. */
  private async end(intents: readonly BlobIntent[]): Promise<void> {
    await this.ports.intents?.end(intents).catch(() => undefined)
  }
}

/**
 * Removes what writers that died have stored for appends that never came to be, and what those that died while they erased
 * have left of it. Before anything is written; reads only the streams of such writers. Returns how many blobs were removed.
 */
export async function sweepBlobs(ports: { log: EventLog; blobs: BlobStore; intents: BlobIntents }): Promise<number> {
  let removed = 0
  for (const [stream, left] of Map.groupBy(await ports.intents.left(), (intent) => intent.stream)) {
    const named = new Set<string>()
    for await (const page of ports.log.read(stream, { bodies: false })) {
      for (const { header, erased } of page) if (!erased) named.add(header.body.hash)
    }
    if (left.some(({ hash }) => !named.has(hash))) await addAttached(ports, stream, named)
    for (const { runId, hash } of left) {
      if (named.has(hash)) continue
      await ports.blobs.delete(runId, hash)
      removed++
    }
    await ports.intents.end(left)
  }
  return removed
}

/** Whole results that the stream's events name: these stand in bodies, which are read only where the headers do not tell. */
async function addAttached(stores: Stores, stream: string, named: Set<string>): Promise<void> {
  for await (const page of stores.log.read(stream)) {
    for (const event of page) {
      if (event.erased || !ATTACHING.has(event.header.type)) continue
      const attachment = attachmentIn(event.header, await bodyOf(stores, event))
      if (attachment !== undefined) named.add(attachment.hash)
    }
  }
}
