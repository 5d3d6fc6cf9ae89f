import { notWritten } from '../../log/errors.ts'
import type { BlobIntent, BlobIntents, BlobStore } from '../../ports/index.ts'

interface Ports {
  readonly blobs: BlobStore
  readonly intents?: BlobIntents
}

/**
 * Bytes and the salted hash that is their address. `repeats`: the command contains the salt, so every append of the
 * command has the same address; absent: each append draws its own salt.
 */
export interface Addressed {
  readonly repeats?: true
  readonly bytes: Uint8Array
  readonly header: { readonly hash: string }
}

/**
 * The blobs of one append. An intent is recorded before a blob is stored, and ended once the outcome of the append is
 * known: a blob that neither an event nor an intent names could never be erased.
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

  /** Stores the bodies that are not stored yet; false: there were none. */
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

  /** Call after a successful append. Deletes blobs of earlier decisions that the append does not name. */
  async named(hashes: readonly string[]): Promise<void> {
    if (this.stored.size === 0) return
    const named = new Set(hashes)
    await this.drop([...this.stored.values()].filter(({ hash }) => !named.has(hash)))
    await this.end([...this.stored.values()].filter(({ hash }) => named.has(hash)))
  }

  /** Call after a failed append. Deletes its blobs if the append was refused; otherwise the outcome is unknown. */
  async refused(error: unknown): Promise<void> {
    if (notWritten(error)) await this.drop([...this.stored.values()])
  }

  /** An earlier append of the command may name a repeated address: its blob and intent stay until a restart. */
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

  /** Ignores errors: the next start checks remaining intents, and the append's outcome must not change. */
  private async end(intents: readonly BlobIntent[]): Promise<void> {
    await this.ports.intents?.end(intents).catch(() => undefined)
  }
}
