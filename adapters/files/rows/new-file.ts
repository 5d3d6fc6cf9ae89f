import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncNames } from '../durable.ts'
import { makeFolder } from '../folders.ts'

/** The end of the names of files that are not complete. */
export const UNFINISHED = '.tmp'

/** A file that appears under its name only when it is complete and durable. Only this user can read it. */
export class NewFile {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #hash = createHash('sha256')

  private constructor(path: string, handle: FileHandle) {
    this.#path = path
    this.#handle = handle
  }

  /** `path`: without its end {@link UNFINISHED}. A file that an earlier process left there is replaced. */
  static async open(path: string): Promise<NewFile> {
    makeFolder(dirname(path))
    const unfinished = path + UNFINISHED
    return new NewFile(unfinished, await open(unfinished, 'w', 0o600))
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes)
    for (let at = 0; at < bytes.length; ) at += (await this.#handle.write(bytes, at)).bytesWritten
  }

  /** Gives the file its name in the same folder, and replaces a file of this name. Returns the SHA-256 of its bytes. */
  async publish(name: string): Promise<string> {
    await this.#handle.sync().finally(() => this.#handle.close())
    await rename(this.#path, join(dirname(this.#path), name))
    await syncNames(dirname(this.#path))
    return this.#hash.digest('hex')
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined)
    await rm(this.#path, { force: true })
  }
}
