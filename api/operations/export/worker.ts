import { parentPort, workerData } from 'node:worker_threads'
import { ExportError, failureOf } from './export-error.ts'
import { ExportFolder } from './manifest.ts'
import type { AskedLines, Exported, ExportWork, FromThread, Piece, ToThread } from './thread-protocol.ts'
import { writeEvents } from './write-events.ts'
import { writeTables } from './write-tables.ts'

// The thread of an export: encodes and writes files.

const port = parentPort!
const send = (message: FromThread) => port.postMessage(message)
const waiting = new Map<number, { resolve(piece: Piece | null): void; reject(error: Error): void }>()
port.on('message', (message: ToThread) => {
  const one = waiting.get(message.stream)
  waiting.delete(message.stream)
  if ('failure' in message) one?.reject(new Error(message.failure))
  else one?.resolve(message.piece)
})

let streams = 0

/** The lines that the other thread reads, without line ends. */
async function* lines(asked: AskedLines): AsyncGenerator<string> {
  const stream = streams++
  send({ kind: 'open', stream, asked })
  const utf8 = new TextDecoder()
  let held: string[] = []
  try {
    for (;;) {
      const piece = await new Promise<Piece | null>((resolve, reject) => {
        waiting.set(stream, { resolve, reject })
        send({ kind: 'pull', stream })
      })
      if (piece === null) break
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
    if (held.join('') !== '')
      throw new ExportError('EXPORT_BROKEN', 'the last line is incomplete; run the export again')
  } finally {
    send({ kind: 'close', stream })
  }
}

async function run({ folder: path, format, events, tables }: ExportWork): Promise<Exported> {
  const folder = await ExportFolder.open(path, format)
  try {
    const open = (after: string | null, last: number | null) => lines({ of: 'events', after, last })
    const written = events && (await writeEvents(folder, events.since, open))
    const replaced = tables ? await writeTables(folder, lines({ of: 'tables' })) : null
    return { events: written && { ...written, outdated: folder.outdated }, tables: replaced }
  } finally {
    folder.release()
  }
}

run(workerData as ExportWork).then(
  (exported) => send({ kind: 'done', exported }),
  (error: unknown) => send({ kind: 'failed', failure: failureOf(error) }),
)
