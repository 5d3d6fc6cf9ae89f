import { randomUUID } from 'node:crypto'
import { lstat, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from './durable.ts'
import { makeFolder } from './folders.ts'

/** Ids of the log; nothing else may name a file. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,120}$/

/**
 * The plans of runs as files that people can read: `<folder>/<runId>/<name>`. They are copies of what the log holds, so a file
 * that is missing or was changed is written anew.
 */
export class PlanFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Where the file lies. Throws a RangeError for a name that could lead elsewhere. */
  path(runId: string, name: string): string {
    for (const one of [runId, name]) if (!NAME.test(one)) throw new RangeError(`"${one}" cannot name a plan`)
    return join(this.#folder, runId, name)
  }

  /**
   * Makes the file hold this text, at once and as a whole; an empty text empties it. A link in its place is replaced. Rejects
   * where the run's folder is a link, which could lead out, or where it cannot be written.
   */
  async write(runId: string, name: string, text: string): Promise<void> {
    const path = this.path(runId, name)
    const folder = join(this.#folder, runId)
    makeFolder(folder)
    if (!(await lstat(folder)).isDirectory())
      throw new Error(`${folder} is not a folder, and plans are not written through links; remove it`)
    // Reading what is no plain file could lead out, or wait for ever.
    const isFile = await lstat(path).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isFile && (await readFile(path, 'utf8').catch(() => null)) === text) return
    const next = `${path}.${randomUUID()}`
    try {
      await writeDurably(next, text)
      await rename(next, path)
    } finally {
      await rm(next, { force: true })
    }
  }
}
