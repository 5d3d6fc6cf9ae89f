import { readFileSync } from 'node:fs'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { openPool } from '../../../projections/engine/postgres/pool.ts'
import { searchMemories } from '../../../projections/memory/queries.ts'
import { FACTS, fact, PLACES, QUERIES } from '../cases/memory.ts'
import { type Figure, most, ms } from '../figure.ts'
import { median, timed } from '../measure.ts'
import type { Place } from './place.ts'

// One search among 100,000 facts in PostgreSQL: CPU of this process and of the server's, so that a busy machine changes little.
// Floor: a search in the index alone. On Linux only.

const AT_ONCE = 10_000

export async function recall({ pair, quick }: Place): Promise<Figure[]> {
  const pool = openPool({ url: pair.postgres.url, max: 1 })
  const home = new PostgresHome({ pool, schema: 'keepup_recall' })
  await home.live()
  const { rows } = await pool.query<{ table_schema: string }>(
    "select table_schema from information_schema.columns where table_name = 'memories' and column_name = 'vector' and table_schema like 'keepup_recall%'",
  )
  const table = `"${rows[0]!.table_schema}".memories`
  for (let from = 0; from < FACTS; from += AT_ONCE) {
    const facts = Array.from({ length: AT_ONCE }, (_, i) => fact(from + i))
    const columns = [
      ...(['id', 'scope', 'place', 'said', 'placed', 'words'] as const).map((name) => facts.map((one) => one[name])),
      facts.map((_, i) => from + i + 1),
    ]
    await pool.query(
      `insert into ${table}
        (id, scope, place, text, place_word, words, started, created_at, created_by, updated_at, updated_by, revision)
        select id, scope, place, said, placed, words, started, '2026-01-01T00:00:00.000Z', 'model:a', '2026-01-01T00:00:00.000Z', 'model:a', 0
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
          as facts (id, scope, place, said, placed, words, started)`,
      columns,
    )
  }
  await pool.query(`vacuum analyze ${table}`)
  const { rows: backends } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  /** CPU of one time of this work, here and in the server, over enough of them for the ticks in which the server's is counted. */
  const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
    await work()
    const before = serverMs(backends[0]!.pid)
    const { cpuMs } = await timed(async () => {
      for (let n = 0; n < times; n++) await work()
    })
    return (cpuMs + serverMs(backends[0]!.pid) - before) / times
  }
  const times = quick ? 10 : 40
  const [ours, floor]: [number[], number[]] = [[], []]
  for (const query of QUERIES) {
    const words = query.split(' ').map((word) => `'${word}':*`)
    const bare = `select id from ${table} where vector @@ cast($1 as tsquery) order by started desc limit 500`
    ours.push(await cpuOf(() => home.read((db) => searchMemories(db, PLACES, query, 10))))
    floor.push(await cpuOf(() => pool.query(bare, [words.join(' | ')])))
  }
  await pool.end()
  const slowest = Math.max(...ours)
  return [
    {
      name: 'recall among 100,000 facts, PostgreSQL',
      ours: ms(median(ours)),
      floor: ms(median(floor)),
      value: median(ours),
      goal: most(20, ' ms'),
    },
    { name: 'the slowest recall, PostgreSQL', ours: ms(slowest), floor: '', value: slowest, goal: most(20, ' ms') },
  ]
}

/** CPU of a process so far, ms: its user and system time in hundredths of a second. */
function serverMs(pid: number): number {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const fields = after.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
