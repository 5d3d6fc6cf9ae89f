import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Bytes that the blobs of each run take. Counts the files of a run's folder again only where names have come or gone in it
 * since, so that asking often is cheap.
 */
export class BlobUsage {
  readonly #folder: string
  readonly #known = new Map<string, { readonly changed: bigint; readonly bytes: number }>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** By run id; a run without blobs is not there. */
  async sizes(): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>()
    for (const shelf of await namesIn(this.#folder)) {
      if (shelf.length > 2) continue
      for (const runId of await namesIn(join(this.#folder, shelf)))
        sizes.set(runId, await this.#size(join(this.#folder, shelf, runId)))
    }
    return sizes
  }

  async #size(folder: string): Promise<number> {
    const changed = (await stat(folder, { bigint: true }).catch(() => null))?.mtimeNs ?? 0n
    const known = this.#known.get(folder)
    if (known?.changed === changed) return known.bytes
    let bytes = 0
    for (const name of await namesIn(folder)) bytes += (await stat(join(folder, name)).catch(() => null))?.size ?? 0
    this.#known.set(folder, { changed, bytes })
    return bytes
  }
}

/** Nothing where there is no such folder, or no longer. */
const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
