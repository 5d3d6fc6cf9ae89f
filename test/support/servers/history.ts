import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventStoreLog } from '../../../adapters/eventstore/log.ts'
import { notWritten } from '../../../domain/log/errors.ts'
import type { HistoryLine } from './history-faults.ts'

// Loaded before a program with `--import`: writes the history of the appends of this process to KEEPUP_HISTORY, a folder,
// as NDJSON. The lines of a killed process remain.

const folder = process.env.KEEPUP_HISTORY
if (folder !== undefined) {
  const file = join(folder, `${process.pid}.ndjson`)
  const write = (line: HistoryLine) => appendFileSync(file, `${JSON.stringify(line)}\n`)
  const append = EventStoreLog.prototype.append
  let appends = 0
  EventStoreLog.prototype.append = async function (this: EventStoreLog, stream, expected, batch, ...more) {
    const id = `${process.pid}.${appends++}`
    write({ is: 'invoke', id, stream, expected, events: batch.map((event) => event.id) })
    try {
      const done = await append.call(this, stream, expected, batch, ...more)
      write({ is: 'ok', id })
      return done
    } catch (error) {
      const code = String((error as { code?: unknown }).code)
      write({ is: notWritten(error) ? 'fail' : 'unknown', id, code })
      throw error
    }
  }
}

/** All lines of the processes that wrote to a folder. */
export const readHistory = (from: string): HistoryLine[] =>
  !existsSync(from)
    ? []
    : readdirSync(from).flatMap((name) =>
        readFileSync(join(from, name), 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as HistoryLine),
      )
