import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'
import type { FactOwner, MemoryScope } from '../../domain/calls/memory/request.ts'
import { PREFIX, queryWords, ranked } from '../../domain/memory/rank.ts'
import { placeWord } from '../../domain/memory/words.ts'
import type { Database } from '../engine/schema/database.ts'
import type { Row } from '../engine/schema/tables.ts'
import { memoryTables } from './tables.ts'

export type MemoryRow = Row<'memories'>

/** A fact that the search can find. */
export type FoundRow = MemoryRow & { readonly text: string; readonly words: string }

/** All columns except the index, which PostgreSQL stores in a column of the table. */
const COLUMNS = Object.keys(memoryTables.memories.columns) as (keyof MemoryRow)[]

/** Maximum number of ranked facts with all words of a query: the latest ones. */
const CANDIDATES = 200
/** Maximum number of ranked facts for each single word of a query. */
const OF_A_WORD = 50

export interface MemoryFilter {
  readonly scope?: MemoryScope | undefined
  readonly place?: string | undefined
  readonly runId?: string | undefined
  /** Includes forgotten facts. */
  readonly forgotten?: boolean | undefined
}

/** Facts by time of saving, the latest first: at most `limit` before the position `after`. */
export function selectMemories(
  db: Kysely<Database>,
  { scope, place, runId, forgotten, after, limit }: MemoryFilter & { after?: number | undefined; limit: number },
): Promise<MemoryRow[]> {
  let query = db.selectFrom('memories').select(COLUMNS).orderBy('started', 'desc').limit(limit)
  if (scope !== undefined) query = query.where('scope', '=', scope)
  if (place !== undefined) query = query.where('place', '=', place)
  if (runId !== undefined) query = query.where('run_id', '=', runId)
  if (forgotten !== true) query = query.where('text', 'is not', null)
  if (after !== undefined) query = query.where('started', '<', after)
  return query.execute()
}

/** One fact; undefined: the fact does not exist. */
export const showMemory = (db: Kysely<Database>, id: string): Promise<MemoryRow | undefined> =>
  db.selectFrom('memories').select(COLUMNS).where('id', '=', id).executeTakeFirst()

/** The number of facts of a place that the search can find. */
export async function countMemories(db: Kysely<Database>, { scope, place }: FactOwner): Promise<number> {
  const { count } = await db
    .selectFrom('memories')
    .select((of) => of.fn.countAll().as('count'))
    .where('scope', '=', scope)
    .where('place', '=', place)
    .where('text', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * The facts that match a query, the best first: facts with all of its words, then facts with some. A query without
 * words returns the latest facts. `places` null: every place. For a very frequent word, only the latest facts are
 * searched.
 */
export async function searchMemories(
  db: Kysely<Database>,
  places: readonly FactOwner[] | null,
  query: string,
  limit: number,
): Promise<FoundRow[]> {
  const words = queryWords(query)
  const where = places?.map(placeWord) ?? null
  if (where?.length === 0) return []
  if (words.length === 0) return found(db, where === null ? null : holding(db, where, [], limit), limit)
  const whole = await found(db, holding(db, where, words, CANDIDATES), CANDIDATES)
  if (whole.length >= limit || words.length === 1) return ranked(whole, words).slice(0, limit)
  // One query for all words, because each query to a server costs a round trip.
  const [first, ...others] = words.map((word) =>
    db.selectFrom(facts(db, holding(db, where, [word], OF_A_WORD), OF_A_WORD).as('of_word')).select(COLUMNS),
  )
  const some = (await others.reduce((all, one) => all.unionAll(one), first!).execute()) as FoundRow[]
  const candidates = new Map([...whole, ...some].map((row) => [row.id, row]))
  return ranked([...candidates.values()], words).slice(0, limit)
}

/** The latest facts that satisfy a condition of the index; null: all facts that the search can find. */
const found = async (db: Kysely<Database>, condition: RawBuilder<boolean> | null, limit: number) =>
  (await facts(db, condition, limit).execute()) as FoundRow[]

function facts(db: Kysely<Database>, condition: RawBuilder<boolean> | null, limit: number) {
  const query = db.selectFrom('memories').select(COLUMNS).where('words', 'is not', null)
  return (condition === null ? query : query.where(condition)).orderBy('started', 'desc').limit(limit)
}

/**
 * SQL in the full-text syntax of the database: a fact has one of the place words and all of the other words. `limit`:
 * number of wanted facts, the latest first.
 */
function holding(
  db: Kysely<Database>,
  places: readonly string[] | null,
  words: readonly string[],
  limit: number,
): RawBuilder<boolean> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  const or = isPostgres ? ' | ' : ' OR '
  const and = isPostgres ? ' & ' : ' AND '
  const term = (word: string, mark: string) =>
    (isPostgres ? `'${word}'` : `"${word}"`) + (word.length >= PREFIX ? mark : '')
  const all = [
    ...(places === null ? [] : [`(${places.map((word) => term(word, '')).join(or)})`]),
    ...words.map((word) => term(word, isPostgres ? ':*' : '*')),
  ].join(and)
  return isPostgres
    ? sql<boolean>`vector @@ cast(${all} as tsquery)`
    : sql<boolean>`started in (select rowid from memory_words where memory_words match ${all} order by rowid desc limit ${limit})`
}
