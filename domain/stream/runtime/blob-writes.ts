import { notWritten } from '../../log/errors.ts'
import type { BlobIntent, BlobIntents, BlobStore } from '../../ports/index.ts'

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
