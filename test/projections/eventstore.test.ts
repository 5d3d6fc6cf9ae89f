import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventLog } from '../../domain/ports/index.ts'
import { Projector } from '../../projections/engine/projector/projector.ts'
import { openSqliteStore } from '../../projections/engine/store/sqlite.ts'
import { openLog, standIn } from '../support/eventstore/logs.ts'
import { tempFolder } from '../support/folders.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { tape } from '../support/projections/fc.ts'
import { tell } from '../support/projections/tell.ts'

const blobs = new MemoryBlobs()

/** All rows of all tables. */
function rows(file: string): Record<string, unknown[]> {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = db.prepare("select name from sqlite_master where type = 'table' order by name").all()
    return Object.fromEntries(
      tables.map(({ name }) => {
        const found = db.prepare(`select * from "${String(name)}"`).all()
        return [String(name), found.map((row) => JSON.stringify(row)).sort()]
      }),
    )
  } finally {
    db.close()
  }
}

/** The tables that one fold from zero makes. */
async function rebuilt(log: EventLog, file: string) {
  const store = await openSqliteStore(file)
  await new Projector({ log, blobs, store }).catchUp()
  await store.close()
  return rows(file)
}

test('tables that follow a server whose connections are cut are those of a rebuild', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const numbers = fc.sample(tape, { numRuns: 20, seed: 7 }).reduce((a, b) => (a.length > b.length ? a : b))
  const events = tell(numbers, false).log.originals.filter(({ header }) => header.stream !== 'log-meta')
  expect(events.length).toBeGreaterThan(100)
  const folder = tempFolder()
  const file = join(folder, 'live.db')
  let next = 0
  // Three lives of one projector, each from where the one before was.
  for (const upTo of [events.length >> 2, events.length >> 1, events.length]) {
    const store = await openSqliteStore(file)
    const stop = new AbortController()
    const projector = new Projector({ log, blobs, store })
    const running = projector.run(stop.signal)
    for (; next < upTo; next++) {
      const event = events[next]!
      await log.append(event.header.stream, event.header.revision - 1, [event])
      if (next % 50 === 0) server.drop()
    }
    await projector.caughtUpTo(await log.headCursor(), AbortSignal.timeout(100_000))
    stop.abort()
    await running
    await store.close()
  }
  expect(rows(file)).toEqual(await rebuilt(log, join(folder, 'rebuilt.db')))
})
