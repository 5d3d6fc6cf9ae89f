import { parentPort, workerData } from 'node:worker_threads'
import { failureOf } from './export-error.ts'
import type { AskedLines, ExportWork, FromThread, Piece, ToThread } from './thread-protocol.ts'
import { writeExport } from './write-export.ts'

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

/** The pieces that the other thread reads. */
async function* read(asked: AskedLines): AsyncGenerator<Piece> {
  const stream = streams++
  send({ kind: 'open', stream, asked })
  try {
    for (;;) {
      const piece = await new Promise<Piece | null>((resolve, reject) => {
        waiting.set(stream, { resolve, reject })
        send({ kind: 'pull', stream })
      })
      if (piece === null) return
      yield piece
    }
  } finally {
    send({ kind: 'close', stream })
  }
}

writeExport(workerData as ExportWork, read).then(
  (exported) => send({ kind: 'done', exported }),
  (error: unknown) => send({ kind: 'failed', failure: failureOf(error) }),
)
