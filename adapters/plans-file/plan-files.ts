import { randomUUID } from 'node:crypto'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '../files/durable.ts'
import { makeFolder } from '../files/folders.ts'

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

  /** Makes the file hold this text, at once and as a whole; an empty text empties it. */
  async write(runId: string, name: string, text: string): Promise<void> {
    const path = this.path(runId, name)
    if ((await readFile(path, 'utf8').catch(() => null)) === text) return
    makeFolder(join(this.#folder, runId))
    const next = `${path}.${randomUUID()}`
    try {
      await writeDurably(next, text)
      await rename(next, path)
    } finally {
      await rm(next, { force: true })
    }
  }
}
