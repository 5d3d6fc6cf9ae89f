import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { placeWord, wordsOf } from '../../../domain/memory/words.ts'
import { connectSqlite } from '../../../projections/engine/store/database.ts'
import { openSqliteStore } from '../../../projections/engine/store/sqlite.ts'
import { searchMemories } from '../../../projections/memory/queries.ts'
import type { Bench, Case } from '../bench.ts'
import { most, ms } from '../figure.ts'
import { median, timed } from '../measure.ts'

// One search among 100,000 facts of three places, in words of all frequencies. Floor: a search in the index alone. CPU of all threads.

export const FACTS = 100_000
const WORDS = 5_000
export const PLACES = [
  { scope: 'global', place: '' },
  { scope: 'workspace', place: '/work' },
  { scope: 'run', place: 'r1' },
] as const

/** Words as a text has them: few of them are frequent. */
const word = (n: number) => `w${Math.floor((((n * 7919) % 10_007) ** 3 / 10_007 ** 3) * WORDS).toString(36)}x`
/** Queries of words that few facts have, that many have, and that none has. */
export const QUERIES = ['w1x', 'w0x w1x', 'w2x w3x w4x w5x', 'wabx wacx', 'w10x wzzx w0x', 'nothing at all']

const text = (fact: number) => Array.from({ length: 15 }, (_, k) => word(fact * 31 + k * 17)).join(' ')

/** The columns of one fact. */
export function fact(n: number) {
  const where = PLACES[n % 10 === 0 ? 1 : n % 1_000 === 1 ? 2 : 0]
  const said = text(n)
  return { ...where, id: `${where.scope}-${n}`, said, placed: placeWord(where), words: wordsOf(said).join(' ') }
}

export const memory: Case = {
  name: 'memory',
  async run(bench: Bench) {
    const file = join(bench.folder, 'memories.db')
    await (await openSqliteStore(file)).close()
    fill(file)
    const reader = connectSqlite(file, 'read')
    const index = new DatabaseSync(file, { readOnly: true })
    const bare = index.prepare(
      `select rowid from memory_words where memory_words match ? order by rowid desc limit 500`,
    )
    const [ours, floor]: [number[], number[]] = [[], []]
    for (let round = 0; round <= bench.rounds; round++) {
      for (const query of QUERIES) {
        const took = await timed(() => searchMemories(reader.db, PLACES, query, 10))
        const alone = await timed(() =>
          bare.all(
            query
              .split(' ')
              .map((one) => `"${one}"*`)
              .join(' OR '),
          ),
        )
        if (round > 0) {
          ours.push(took.cpuMs)
          floor.push(alone.cpuMs)
        }
      }
    }
    index.close()
    await reader.close()
    rmSync(file)
    const value = median(ours)
    return [
      {
        name: 'recall among 100,000 facts',
        ours: ms(value),
        floor: ms(median(floor)),
        value,
        goal: most(20, ' ms'),
      },
      {
        name: 'the slowest recall',
        ours: ms(Math.max(...ours)),
        floor: '',
        value: Math.max(...ours),
        goal: most(20, ' ms'),
      },
    ]
  },
}

function fill(file: string): void {
  const db = new DatabaseSync(file)
  const at = '2026-01-01T00:00:00.000Z'
  const insert = db.prepare(`insert into memories
    (id, scope, place, text, place_word, words, started, created_at, created_by, updated_at, updated_by, revision)
    values (?, ?, ?, ?, ?, ?, ?, '${at}', 'model:a', '${at}', 'model:a', 0)`)
  db.exec('begin')
  for (let n = 0; n < FACTS; n++) {
    const { id, scope, place, said, placed, words } = fact(n)
    insert.run(id, scope, place, said, placed, words, n + 1)
  }
  db.exec('commit')
  db.close()
}
