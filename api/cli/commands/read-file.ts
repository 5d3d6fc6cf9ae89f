import { createReadStream, statSync } from 'node:fs'
import type { Context } from '../context.ts'
import { bytes } from '../output/units.ts'

/** Reads a file in pieces, and shows the progress. Rejects at the first piece if the file cannot be read. */
export async function* withProgress({ progress }: Pick<Context, 'progress'>, path: string): AsyncGenerator<Uint8Array> {
  const total = statSync(path, { throwIfNoEntry: false })?.size ?? null
  let done = 0
  for await (const piece of createReadStream(path) as AsyncIterable<Uint8Array>) {
    done += piece.length
    progress?.at({ done, total, unit: '', amount: bytes })
    yield piece
  }
}
