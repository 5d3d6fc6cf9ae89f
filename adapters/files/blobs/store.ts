import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LogError } from '../../../domain/log/errors.ts'
import type { BlobStore } from '../../../domain/ports/index.ts'
import { checkAddress } from '../blob-address.ts'
import { syncNames, writeDurably } from '../durable.ts'
import { makeFolder } from '../folders.ts'

/** The age from which a half-written file belongs to a dead process. In ms. */
const ABANDONED = 60 * 60 * 1000

/**
 * Blobs as files: `<folder>/<first two characters of runId>/<runId>/<hash>`. A file gets its name only when its bytes
 * are durable. Every rejection is a LogError. The caller checks the bytes.
 */
export class FileBlobs implements BlobStore {
  readonly #folder: string
  #tidied: Promise<void> | null = null

  /** `folder`: created at the first `put`. */
  constructor(folder: string) {
    this.#folder = folder
  }

  async put(runId: string, hash: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(runId, hash)
    const half = join(this.#folder, 'tmp', `${hash}.${randomBytes(8).toString('hex')}`)
    try {
      makeFolder(dirname(half))
      // A half-written file that cannot be removed does no harm.
      this.#tidied ??= tidy(dirname(half)).catch(() => undefined)
      await this.#tidied
      makeFolder(dirname(path))
      // Replace an existing file too: the process that wrote it may have died before the name was durable.
      await writeDurably(half, bytes)
      await rename(half, path)
      await syncNames(dirname(path))
    } catch (error) {
      await rm(half, { force: true }).catch(() => undefined)
      throw failed('write', path, error)
    }
  }

  async get(runId: string, hash: string): Promise<Uint8Array> {
    const path = this.#path(runId, hash)
    try {
      return await readFile(path)
    } catch (error) {
      throw failed('read', path, error)
    }
  }

  async part(runId: string, hash: string, from: number, length: number): Promise<Uint8Array> {
    const path = this.#path(runId, hash)
    try {
      const file = await open(path, 'r')
      try {
        const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, (await file.stat()).size - from)))
        let read = 0
        for (let more = -1; read < bytes.length && more !== 0; read += more)
          more = (await file.read(bytes, read, bytes.length - read, from + read)).bytesRead
        return bytes.subarray(0, read)
      } finally {
        await file.close()
      }
    } catch (error) {
      throw failed('read', path, error)
    }
  }

  /** Synchronous {@link get}, for SQL functions. */
  read(runId: string, hash: string): Uint8Array {
    const path = this.#path(runId, hash)
    try {
      return readFileSync(path)
    } catch (error) {
      throw failed('read', path, error)
    }
  }

  async list(runId: string): Promise<readonly string[]> {
    const folder = dirname(this.#path(runId, '0'.repeat(64)))
    try {
      return (await readdir(folder)).filter((name) => /^[0-9a-f]{64}$/.test(name))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return []
      throw failed('list', folder, error)
    }
  }

  async delete(runId: string, hash: string): Promise<void> {
    const path = this.#path(runId, hash)
    try {
      await rm(path, { force: true })
      await syncNames(dirname(path)).catch((error) => {
        if (codeOf(error) !== 'ENOENT') throw error
      })
    } catch (error) {
      throw failed('delete', path, error)
    }
  }

  #path(runId: string, hash: string): string {
    checkAddress(runId, hash)
    return join(this.#folder, runId.slice(0, 2), runId, hash)
  }
}

async function tidy(folder: string): Promise<void> {
  const now = Date.now()
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && now - found.mtimeMs > ABANDONED) await rm(path, { force: true })
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** File system codes for a missing file, or for something else at its path. */
const GONE = new Set(['ENOENT', 'EISDIR', 'ENOTDIR'])

function failed(what: string, path: string, error: unknown): LogError {
  const code = codeOf(error)
  const told = `cannot ${what} the blob ${path}: ${error instanceof Error ? error.message : String(error)}`
  if (what === 'read' && GONE.has(code))
    return new LogError('BLOB_MISSING', `${told}; restore it from a backup`, { cause: error })
  if (code === 'EXDEV')
    return new LogError('LOG_UNAVAILABLE', `${told}; keep all of the blobs' folder on one file system`, {
      cause: error,
    })
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new LogError('LOG_FULL', `${told}; make room on the disk and try again`, { cause: error })
  return new LogError('LOG_UNAVAILABLE', `${told}; check that this user may write there`, { cause: error })
}
