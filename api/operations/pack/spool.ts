import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, statSync, type WriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { TAR_END, tarHeader, tarPadding } from './tar.ts'

const FLUSH = 256 * 1024

/** A file of the pack that is being written. */
export interface SpoolFile {
  write(piece: string | Uint8Array): Promise<void>
}

/**
 * Files in a private temporary folder. A tar names the size of a file before its bytes, and the files of a pack grow
 * side by side.
 */
export class Spool {
  readonly #folder = mkdtempSync(join(tmpdir(), 'keepup-pack-'))
  readonly #files = new Map<string, { stream: WriteStream; pieces: (string | Uint8Array)[]; size: number }>()

  has(name: string): boolean {
    return this.#files.has(name)
  }

  async file(name: string): Promise<SpoolFile> {
    const path = join(this.#folder, name)
    await mkdir(dirname(path), { recursive: true })
    const file = { stream: createWriteStream(path, { mode: 0o600 }), pieces: [] as (string | Uint8Array)[], size: 0 }
    this.#files.set(name, file)
    return {
      write: async (piece) => {
        file.pieces.push(piece)
        file.size += piece.length
        if (file.size >= FLUSH) await flush(file)
      },
    }
  }

  async put(name: string, content: string | Uint8Array): Promise<void> {
    const file = await this.file(name)
    await file.write(content)
    await this.end(name)
  }

  /** Ends a file. */
  async end(name: string): Promise<void> {
    const file = this.#files.get(name)!
    if (file.stream.closed) return
    await flush(file)
    file.stream.end()
    await once(file.stream, 'close')
  }

  /** All files as a tar, in the order in which they were begun. */
  async *tar(seconds: number): AsyncGenerator<Uint8Array> {
    for (const name of this.#files.keys()) {
      await this.end(name)
      const path = join(this.#folder, name)
      const { size } = statSync(path)
      yield tarHeader(name, size, seconds)
      for await (const piece of createReadStream(path, { highWaterMark: FLUSH })) yield piece as Uint8Array
      yield tarPadding(size)
      this.#files.get(name)!.pieces = []
    }
    yield TAR_END
  }

  async remove(): Promise<void> {
    for (const { stream } of this.#files.values()) stream.destroy()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

async function flush(file: { stream: WriteStream; pieces: (string | Uint8Array)[]; size: number }): Promise<void> {
  const bytes = Buffer.concat(file.pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
  file.pieces = []
  file.size = 0
  if (!file.stream.write(bytes)) await once(file.stream, 'drain')
}
