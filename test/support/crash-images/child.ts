import { writeSync } from 'node:fs'
import { join } from 'node:path'
import type { SqliteLog } from '../../../adapters/sqlite/log/log.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'

// A process that performs one run in a data folder, and prints each event as soon as the log acknowledged it. A reader
// sees an event only after its commit was synced. `writeSync` puts the line before any later system call.

const [, , data = '', script = '', workspace = ''] = process.argv

class Acknowledged {
  #log: SqliteLog | undefined
  #last: Cursor | null = null

  /** Prints the events since the last call. */
  async print(): Promise<void> {
    this.#log ??= await openSqliteLog({ folder: join(data, 'log'), mode: 'reader' })
    for await (const page of this.#log.readAll(this.#last, { bodies: false }))
      for (const { position, hash } of page) {
        writeSync(1, `ack ${position} ${hash}\n`)
        this.#last = { logId: this.#log.logId, position, hash }
      }
  }

  async close(): Promise<void> {
    await this.print()
    await this.#log?.close()
  }
}

const acknowledged = new Acknowledged()
const keepup = await openKeepUp({ data, sandboxed: false })
const { runId } = await keepup.start({
  task: 'Write a large file and remember it',
  model: `scripted:${script}`,
  ...(workspace === '' ? {} : { workspace }),
  approve: ['write_file'],
  key: 'images',
})
await acknowledged.print()
const following = (async () => {
  for await (const _ of keepup.follow(runId)) await acknowledged.print()
})()
await keepup.drive(runId)
await following
await keepup.close()
await acknowledged.close()
