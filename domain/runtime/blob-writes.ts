import { ATTACHING, attachmentOf } from '../agent/events/attachment.ts'
import { checkKnown, decode } from '../agent/events/codec.ts'
import { notWritten } from '../log/errors.ts'
import type { BlobIntent, BlobIntents, BlobStore } from '../ports.ts'
import { bodyOf, type Stores } from './history/bodies.ts'

interface Ports {
  readonly blobs: BlobStore
  readonly intents?: BlobIntents
}

/**
 * Bytes and the salted hash that is their address. `repeats`: the command holds the salt, so every append of the command
 * has the same address; absent: each append draws a salt of its own.
 */
export interface Addressed {
  readonly repeats?: true
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
  private readonly repeating = new Set<string>()

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
    for (const [index, { header, bytes, repeats }] of missing.entries()) {
      if (repeats) this.repeating.add(header.hash)
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
    await this.end([...this.stored.values()].filter(({ hash }) => named.has(hash)))
  }

  /** The append was refused, so no event names its blobs. Where the outcome is unknown, all of them stay. */
  async refused(error: unknown): Promise<void> {
    if (notWritten(error)) await this.drop([...this.stored.values()])
  }

  /** An earlier append of the same command may name a repeated address: such a blob and its note stay until the next start. */
  private async drop(unnamed: readonly BlobIntent[]): Promise<void> {
    for (const intent of unnamed) {
      if (this.repeating.has(intent.hash)) continue
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
 * Where a stream cannot be read, its events may name any blob: its blobs and notes stay, and `warn` says so.
 */
export async function sweepBlobs(ports: SweepPorts, warn: (text: string) => void = () => undefined): Promise<number> {
  let removed = 0
  for (const [stream, left] of Map.groupBy(await ports.intents.left(), (intent) => intent.stream)) {
    try {
      const named = await namedIn(ports, stream, left)
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
async function namedIn(stores: Stores, stream: string, left: readonly BlobIntent[]): Promise<ReadonlySet<string>> {
  const named = new Set<string>()
  for await (const page of stores.log.read(stream, { bodies: false })) {
    for (const { header, erased } of page) if (!erased) named.add(header.body.hash)
  }
  if (left.some(({ hash }) => !named.has(hash))) await addAttached(stores, stream, named)
  return named
}

/** Whole results: their addresses stand in bodies. Throws at the first event that this program cannot read. */
async function addAttached(stores: Stores, stream: string, named: Set<string>): Promise<void> {
  for await (const page of stores.log.read(stream)) {
    for (const event of page) {
      const { header, erased } = event
      checkKnown(header)
      if (erased || !READ.has(header.type)) continue
      const attachment = attachmentOf(decode(header, await bodyOf(stores, event)))
      if (attachment !== undefined) named.add(attachment.hash)
    }
  }
}

/** A claim says whether a newer program wrote what follows. */
const READ: ReadonlySet<string> = new Set([...ATTACHING, 'driver_claimed'])
