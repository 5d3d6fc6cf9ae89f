import { ExportError } from './export-error.ts'
import { ExportFolder } from './manifest.ts'
import type { AskedLines, Exported, ExportWork, Piece } from './thread-protocol.ts'
import { writeEvents } from './write-events.ts'
import { writeTables } from './write-tables.ts'

/** Writes the files of an export. `read`: gives the lines, in pieces. */
export async function writeExport(
  { folder: path, format, events, tables }: ExportWork,
  read: (asked: AskedLines) => AsyncIterable<Piece>,
): Promise<Exported> {
  const folder = await ExportFolder.open(path, format)
  try {
    const open = (after: string | null, last: number | null) => wholeLines(read({ of: 'events', after, last }))
    const written = events && (await writeEvents(folder, events.since, open))
    const replaced = tables ? await writeTables(folder, wholeLines(read({ of: 'tables' }))) : null
    return { events: written && { ...written, outdated: folder.outdated }, tables: replaced }
  } finally {
    folder.release()
  }
}

/** The lines of the pieces, without line ends. */
async function* wholeLines(pieces: AsyncIterable<Piece>): AsyncGenerator<string> {
  const utf8 = new TextDecoder()
  let held: string[] = []
  for await (const piece of pieces) {
    const parts = (typeof piece === 'string' ? piece : utf8.decode(piece, { stream: true })).split('\n')
    for (const [n, part] of parts.entries()) {
      held.push(part)
      if (n === parts.length - 1) continue
      const line = held.join('')
      held = []
      // A server may send empty lines as heartbeats.
      if (line !== '') yield line
    }
  }
  if (held.join('') !== '') throw new ExportError('EXPORT_BROKEN', 'the last line is incomplete; run the export again')
}
