import files from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The size of each run's blobs in bytes. Reads a run's folder again only after its names have changed, so repeated
 * calls are cheap.
 */
export class BlobUsage {
  readonly #folder: string
  readonly #files: Pick<typeof files, 'stat' | 'readdir'>
  readonly #known = new Map<string, { readonly changed: bigint; readonly bytes: number }>()

  /** `looks`: the functions of the file system, replaceable for tests. */
  constructor(folder: string, looks: Pick<typeof files, 'stat' | 'readdir'> = files) {
    this.#folder = folder
    this.#files = looks
  }

  /** Sizes by run id, in bytes; 0 for a run without blobs. Reads only the folders of these runs. */
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

  /** The names in a folder; empty if the folder is missing. */
  #names(folder: string): Promise<string[]> {
    return this.#files.readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
      throw error
    })
  }
}
