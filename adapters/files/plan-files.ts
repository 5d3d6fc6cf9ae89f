import { randomUUID } from 'node:crypto'
import { lstat, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from './durable.ts'
import { makeFolder } from './folders.ts'

/** The form of ids in the log. No other text may name a file. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,120}$/

/**
 * The plans of runs as files for people: `<folder>/<runId>/<name>`. The log has the originals, so missing or changed
 * files are simply rewritten.
 */
export class PlanFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The path of a plan. Throws a RangeError for a name that could lead out of the folder. */
  path(runId: string, name: string): string {
    for (const one of [runId, name]) if (!NAME.test(one)) throw new RangeError(`"${one}" cannot name a plan`)
    return join(this.#folder, runId, name)
  }

  /**
   * Replaces the file's content atomically. An empty text empties the file. A link at its path is replaced. Rejects if
   * the run's folder is a link, which could lead out of the folder, or if the file cannot be written.
   */
  async write(runId: string, name: string, text: string): Promise<void> {
    const path = this.path(runId, name)
    const folder = join(this.#folder, runId)
    makeFolder(folder)
    if (!(await lstat(folder)).isDirectory())
      throw new Error(`${folder} is not a folder, and plans are not written through links; remove it`)
    // Reading anything but a plain file could lead out of the folder or block for ever.
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
