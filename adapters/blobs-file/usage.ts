import files from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Bytes that the blobs of each run take. Counts the files of a run's folder again only where names have come or gone in it
 * since, so that asking often is cheap.
 */
export class BlobUsage {
  readonly #folder: string
  readonly #files: Pick<typeof files, 'stat' | 'readdir'>
  readonly #known = new Map<string, { readonly changed: bigint; readonly bytes: number }>()

  /** `looks`: how it looks into the file system. */
  constructor(folder: string, looks: Pick<typeof files, 'stat' | 'readdir'> = files) {
    this.#folder = folder
    this.#files = looks
  }

  /** By run id, of these runs. Looks into their folders only; 0 for a run without blobs. */
  async sizes(runIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(await Promise.all(runIds.map(async (id) => [id, await this.#size(id)] as const)))
  }

  async #size(runId: string): Promise<number> {
    const { stat } = this.#files
    const folder = join(this.#folder, runId.slice(0, 2), runId)
    const changed = (await stat(folder, { bigint: true }).catch(() => null))?.mtimeNs
    if (changed === undefined) return 0
    const known = this.#known.get(folder)
    if (known?.changed === changed) return known.bytes
    let bytes = 0
    for (const name of await this.#names(folder)) bytes += (await stat(join(folder, name)).catch(() => null))?.size ?? 0
    this.#known.set(folder, { changed, bytes })
    return bytes
  }

  /** Nothing where there is no such folder, or no longer. */
  #names(folder: string): Promise<string[]> {
    return this.#files.readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
      throw error
    })
  }
}
