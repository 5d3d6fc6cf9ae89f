import type { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { ERASED_FACT } from '../../../domain/log/erased.ts'
import { Checkpoints } from './checkpoints.ts'
import { openToWrite } from './connection.ts'
import { toLogError } from './errors.ts'
import { Marked } from './marked-writer.ts'
import { type FilePlace, OwnFile } from './own-file.ts'
import { type BatchOutcome, type FromWriter, type Job, type ToWriter, toFailure, toJob } from './protocol.ts'
import { LogWriter } from './writer.ts'

// The writer's thread. It takes all waiting appends, commits them together, answers, and only then runs checkpoints.

const port = parentPort
if (!port) throw new Error('worker.ts is the entry of a worker thread; use openSqliteLog')
const { folder, place } = workerData as { folder: string; place: FilePlace | null }
const say = (message: FromWriter) => port.postMessage(message)

/** The pause between two looks whether the log's file is still the opened one, in ms. Each commit looks too. */
const LOOK_MS = 1000
const MAX_JOBS = 1024
const MAX_BYTES = 16 * 1024 * 1024

let db: DatabaseSync | undefined
try {
  const file = new OwnFile(folder, place)
  db = file.changing(() => openToWrite(folder))
  serve(db, file, new LogWriter(db, folder), new Checkpoints(db, folder, file))
} catch (error) {
  db?.close()
  say({ failed: toFailure(toLogError(error, 'open', folder)) })
}

function serve(open: DatabaseSync, file: OwnFile, writer: LogWriter, checkpoints: Checkpoints): void {
  const marked = new Marked(folder, open, writer, (warning) => say({ warning }))
  const next = () => receiveMessageOnPort(port!)?.message as ToWriter | undefined

  const isReplaced = () => {
    const { replaced } = file
    if (replaced !== null) say({ replaced: toFailure(replaced) })
    return replaced
  }
  const looking = setInterval(() => {
    if (isReplaced()) clearInterval(looking)
  }, LOOK_MS).unref()

  const commit = (jobs: readonly Job[]): readonly BatchOutcome[] => {
    let replaced = isReplaced()
    if (replaced === null) {
      const done = marked.commit(jobs)
      file.wrote()
      // A commit into a file that was replaced meanwhile is not in the log that the next start opens.
      replaced = isReplaced()
      if (replaced === null) return done
    }
    const failure = toFailure(replaced)
    return jobs.map(({ id }) => ({ id, failure }))
  }

  const end = () => {
    clearInterval(looking)
    checkpoints.finish()
    marked.close()
    open.close()
    if (file.replaced !== null) file.setWalAside()
    say('closed')
    port!.close()
  }

  port!.on('message', (first: ToWriter) => {
    let message: ToWriter | undefined = first
    while (message !== undefined) {
      const jobs: Job[] = []
      let bytes = 0
      for (; typeof message === 'object'; message = next()) {
        jobs.push(...message.map(toJob))
        bytes += message.reduce((sum, { bodies }) => sum + bodies.length, 0)
        if (jobs.length >= MAX_JOBS || bytes >= MAX_BYTES) break
      }
      if (jobs.length > 0) {
        const done = commit(jobs)
        const erased = jobs.some(({ batch }) => batch.some(({ header }) => header.type === ERASED_FACT))
        // An erasure is acknowledged after its bytes have left the WAL, unless a reader of another process prevents it.
        if (!erased) say({ done })
        if (typeof message === 'object') message = next()
        const events = jobs.reduce((sum, job) => sum + job.batch.length, 0)
        checkpoints.committed(bytes, events, erased, message === undefined)
        if (erased) say({ done })
      }
      if (message === 'close') return end()
      if (typeof message === 'string') {
        if (message === 'look') {
          isReplaced()
          say('looked')
        } else if (marked.accept(message)) say('accepted')
        message = next()
      }
    }
  })
  say({ ready: writer.time, end: marked.end, place: file.place })
}
