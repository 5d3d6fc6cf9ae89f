import { START, streamNameFilter } from '@eventstore/db-client'
import type { EventStoreLog } from '../../../adapters/eventstore/log.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { openPool } from '../../../projections/engine/postgres/pool.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import type { Store } from '../../../projections/engine/store/store.ts'
import { MemoryBlobs } from '../../support/harness.ts'
import { type Figure, megabytes, micros, most, rate } from '../figure.ts'
import { paired } from '../measure.ts'
import type { Place } from './place.ts'
import { eventsOf, recordRun } from './recorded.ts'

// The tables of PostgreSQL catching up with EventStoreDB, against the client that only decodes what it is sent.

const TURNS = 100
const AT_ONCE = 8

/** Writes whole runs until the log holds about so many events. Returns how many it holds. */
async function fill(log: EventStoreLog, events: number): Promise<number> {
  let written = 0
  const write = async () => {
    while (written < events) {
      const appends = await recordRun(TURNS)
      written += eventsOf(appends)
      // What a run has appended in many steps goes in few here: the log that comes of it is the same.
      for (let at = 0; at < appends.length; ) {
        const { stream, expected } = appends[at]!
        const batch = []
        while (at < appends.length && batch.length < 100) batch.push(...appends[at++]!.batch)
        await log.append(stream, expected, batch)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, write))
  return written
}

/** All events of a namespace as the client gives them. */
function decodeAll({ bare }: Place, namespace: string, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = count
    const subscription = bare.subscribeToAll({
      fromPosition: START,
      filter: streamNameFilter({ prefixes: [`${namespace}.`] }),
    })
    subscription.on('error', reject)
    subscription.on('data', () => {
      if (--left > 0) return
      subscription.unsubscribe().then(() => resolve(), reject)
    })
  })
}

interface Tables {
  readonly home: PostgresHome
  end(): Promise<unknown>
}

function tablesIn({ pair }: Place, schema: string): Tables {
  const pool = openPool({ url: pair.postgres.url })
  return { home: new PostgresHome({ pool, schema }), end: () => pool.end() }
}

export async function cpuOfTables(place: Place): Promise<Figure[]> {
  const log = await place.open()
  const events = await fill(log, place.quick ? 5_000 : 30_000)
  const { home, end } = tablesIn(place, 'keepup_bench')
  const blobs = new MemoryBlobs()
  const pairs = await paired(
    place.quick ? 2 : 3,
    async () => {
      const { store } = await home.fresh()
      await new Projector({ log, blobs, store }).catchUp()
      await store.close()
    },
    // And the identity of the log.
    () => decodeAll(place, log.namespace, events + 1),
  )
  await end()
  const { ours, floor, ratio } = pairs.of('cpuMs')
  return [
    {
      name: 'tables behind a server, CPU per event',
      ours: micros((ours * 1000) / events),
      floor: micros((floor * 1000) / events),
      value: ratio,
      goal: most(1.8, ' ×'),
      note: "floor: the client's own decoding",
    },
  ]
}

/** A long log from its beginning: how fast at its end as at its beginning, and in how much memory. */
export async function longLog(place: Place): Promise<Figure[]> {
  if (place.events === null) return []
  const log = await place.open()
  const events = await fill(log, place.events)
  const { home, end } = tablesIn(place, 'keepup_long')
  const { store } = await home.fresh()
  const marks: { at: number; ms: number; rss: number }[] = []
  const watched: Store = {
    keepsEvents: store.keepsEvents,
    progress: () => store.progress(),
    statesOf: (streams) => store.statesOf(streams),
    erasureSeen: (stream, revision) => store.erasureSeen(stream, revision),
    async commit(from, to, batch) {
      await store.commit(from, to, batch)
      if (to.events * 10 < events * marks.length) return
      marks.push({ at: to.events, ms: performance.now(), rss: process.memoryUsage().rss })
    },
    close: () => store.close(),
  }
  await new Projector({ log, blobs: new MemoryBlobs(), store: watched }).catchUp()
  await store.close()
  await end()
  if (marks.length < 5) throw new Error(`only ${marks.length} commits were seen; measure a longer log`)
  const [first, second] = [marks[1]!, marks[2]!]
  const [last, before] = [marks.at(-1)!, marks.at(-2)!]
  const speed = (from: typeof first, to: typeof first) => ((to.at - from.at) * 1000) / (to.ms - from.ms)
  return [
    {
      name: `catch-up, last tenth of ${events.toLocaleString('en-US')} events`,
      ours: rate(speed(before, last), 'ev'),
      floor: rate(speed(first, second), 'ev'),
      value: speed(first, second) / speed(before, last),
      goal: most(1.25, ' ×'),
      note: 'floor: the second tenth',
    },
    {
      name: 'resident memory at its end',
      ours: megabytes(last.rss),
      floor: megabytes(first.rss),
      value: last.rss / first.rss,
      goal: most(1.25, ' ×'),
      note: 'floor: after its first tenth',
    },
  ]
}
