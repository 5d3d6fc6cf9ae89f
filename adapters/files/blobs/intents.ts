import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LogError } from '../../../domain/log/errors.ts'
import type { BlobIntent, BlobIntents } from '../../../domain/ports/index.ts'
import { checkAddress } from '../blob-address.ts'
import { makeFolder, syncFolder } from '../folders.ts'

/** Intents as empty files: `<folder>/<runId>.<hash>.<stream>`. Every rejection is a LogError. */
export class FileIntents implements BlobIntents {
  readonly #folder: string

  /** `folder`: created at the first intent. */
  constructor(folder: string) {
    this.#folder = folder
  }

  async begin(intents: readonly BlobIntent[]): Promise<void> {
    try {
      makeFolder(this.#folder)
      // Write intents one by one: an erasure may have a thousand, more than a process may have open files.
      for (const intent of intents) await writeFile(this.#path(intent), '', { mode: 0o600 })
      syncFolder(this.#folder)
    } catch (error) {
      if (error instanceof LogError) throw error
      const code = (error as NodeJS.ErrnoException).code
      const full = code === 'ENOSPC' || code === 'EDQUOT'
      throw new LogError(
        full ? 'LOG_FULL' : 'LOG_UNAVAILABLE',
        `cannot write in ${this.#folder}: ${(error as Error).message}; make room, or check that this user may write there`,
        { cause: error },
      )
    }
  }

  async end(intents: readonly BlobIntent[]): Promise<void> {
    // The next start checks and removes an intent that remains.
    await Promise.all(intents.map((intent) => rm(this.#path(intent), { force: true }).catch(() => undefined)))
  }

  async left(): Promise<readonly BlobIntent[]> {
    const names = await readdir(this.#folder).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return []
      throw new LogError(
        'LOG_UNAVAILABLE',
        `cannot read ${this.#folder}: ${cause.message}; check that this user may read there`,
        { cause },
      )
    })
    return names.flatMap((name) => {
      const [, runId, hash, stream] = NAME.exec(name) ?? []
      return runId && hash && stream ? [{ runId, hash, stream }] : []
    })
  }

  #path({ runId, hash, stream }: BlobIntent): string {
    checkAddress(runId, hash)
    checkAddress(stream.replaceAll('.', '-'), hash)
    return join(this.#folder, `${runId}.${hash}.${stream}`)
  }
}

const NAME = /^([\w-]+)\.([0-9a-f]{64})\.([\w.-]+)$/
