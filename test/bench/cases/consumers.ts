import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SqlitePositions } from '../../../adapters/sqlite/positions.ts'
import { Consumers } from '../../../api/operations/consumers/consumers.ts'
import { askedEvents } from '../../../api/operations/events/feed-page.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { paths } from '../../../api/process/host/paths.ts'
import type { Bench, Case } from '../bench.ts'
import { least, rate } from '../figure.ts'
import { paired } from '../measure.ts'

// A consumer that reads a whole log and acks each page, against reading the log plainly.

export const consumersCase: Case = {
  name: 'consumers',
  async run(bench: Bench) {
    const { data } = await bench.long()
    const log = await openSqliteLog({ folder: paths(data).log, mode: 'reader' })
    const events = (await log.headCursor()).position
    const blobs = new FileBlobs(paths(data).blobs)
    const path = join(bench.folder, 'positions.db')
    const parts = { log, blobs, clock: new SystemClock() }
    const signal = new AbortController().signal

    /** Reads as `keepup.consume` does (`views`), or as the stream of HTTP does. */
    const consume = async (form: 'views' | 'ndjson') => {
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
      const positions = new SqlitePositions(path)
      const consumers = new Consumers({ ...parts, positions })
      await consumers.create('all', { after: null, filter: {} })
      const reader = await consumers.open('all')
      const asked = askedEvents({ format: 'ndjson', brief: false }, reader.filter)
      let read = 0
      for await (const { page, events: given } of reader.pages(signal, { once: true })) {
        if (form === 'views') await page.viewsOf(given)
        else for await (const piece of page.pieces(asked)) piece.length
        await reader.ack(page.end)
        read += given.length
      }
      positions.close()
      if (read !== events) throw new Error(`${read} of ${events} events came`)
    }
    const plain = async () => {
      for await (const page of log.readAll(null)) page.length
    }
    const rounds = bench.quick ? 2 : 3
    const figures = []
    for (const form of ['views', 'ndjson'] as const) {
      const pairs = await paired(rounds, () => consume(form), plain)
      const { ours, floor } = pairs.of('cpuMs')
      const value = events / (ours / 1000)
      figures.push({
        name: form === 'views' ? 'a consumer of the library' : 'a consumer as NDJSON',
        ours: rate(value, 'ev'),
        floor: rate(events / (floor / 1000), 'ev'),
        value,
        goal: least(40_000, ' ev/s'),
        note: 'per CPU second, with acks; floor: reading the log plainly',
      })
    }
    await log.close()
    return figures
  },
}
