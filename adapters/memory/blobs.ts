import { LogError } from '../../domain/log/errors.ts'
import type { BlobStore } from '../../domain/ports/index.ts'
import { checkAddress } from '../files/blob-address.ts'

/** Blobs in memory, for tests and for hosts that store nothing. */
export class MemoryBlobs implements BlobStore {
  readonly #owners = new Map<string, Map<string, Uint8Array>>()

  async put(owner: string, hash: string, bytes: Uint8Array): Promise<void> {
    checkAddress(owner, hash)
    const blobs = this.#owners.get(owner) ?? new Map<string, Uint8Array>()
    this.#owners.set(owner, blobs)
    // A copy: the caller may write into its buffer again.
    blobs.set(hash, Uint8Array.from(bytes))
  }

  async get(owner: string, hash: string): Promise<Uint8Array> {
    checkAddress(owner, hash)
    const bytes = this.#owners.get(owner)?.get(hash)
    if (bytes === undefined)
      throw new LogError('BLOB_MISSING', `there is no blob ${owner}/${hash} in memory; it was erased or never stored`)
    return Uint8Array.from(bytes)
  }

  async part(owner: string, hash: string, from: number, length: number): Promise<Uint8Array> {
    return (await this.get(owner, hash)).slice(from, from + length)
  }

  async list(owner: string): Promise<readonly string[]> {
    checkAddress(owner, '0'.repeat(64))
    return [...(this.#owners.get(owner)?.keys() ?? [])]
  }

  async delete(owner: string, hash: string): Promise<void> {
    checkAddress(owner, hash)
    this.#owners.get(owner)?.delete(hash)
  }
}
