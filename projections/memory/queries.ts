import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'
import type { MemoryScope, Place } from '../../domain/memory/fact.ts'
import { PREFIX, queryWords, ranked } from '../../domain/memory/rank.ts'
import { placeWord } from '../../domain/memory/words.ts'
import type { Database } from '../engine/schema/database.ts'
import type { Row } from '../engine/schema/tables.ts'
import { memoryTables } from './tables.ts'

export type MemoryRow = Row<'memories'>

/** A fact that can be found. */
export type FoundRow = MemoryRow & { readonly text: string; readonly words: string }

/** Without the index, which PostgreSQL keeps in a column of the table. */
const COLUMNS = Object.keys(memoryTables.memories.columns) as (keyof MemoryRow)[]

/** Facts with all words of a query that are ranked: the latest ones. */
const CANDIDATES = 200
/** Facts with a word of a query that are ranked, for each word. */
const OF_A_WORD = 50

export interface MemoryFilter {
  readonly scope?: MemoryScope | undefined
  readonly place?: string | undefined
  readonly runId?: string | undefined
  /** Also those that are forgotten. */
  readonly forgotten?: boolean | undefined
}

/** Facts in the order in which they were saved, the latest first; at most `limit` before the position `after`. */
export function listMemories(
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

/** One fact; undefined: there is none. */
export const showMemory = (db: Kysely<Database>, id: string): Promise<MemoryRow | undefined> =>
  db.selectFrom('memories').select(COLUMNS).where('id', '=', id).executeTakeFirst()

/** How many facts of a place can be found. */
export async function countMemories(db: Kysely<Database>, { scope, place }: Place): Promise<number> {
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
 * The facts that a query means, the best first: those with all of its words, then those with some. Without a word: the
 * latest. `places` null: those of every place. A word that very many facts have is looked up among the latest of them.
 */
export async function searchMemories(
  db: Kysely<Database>,
  places: readonly Place[] | null,
  query: string,
  limit: number,
): Promise<FoundRow[]> {
  const words = queryWords(query)
  const where = places?.map(placeWord) ?? null
  if (where?.length === 0) return []
  if (words.length === 0) return found(db, where === null ? null : holding(db, where, [], limit), limit)
  const whole = await found(db, holding(db, where, words, CANDIDATES), CANDIDATES)
  if (whole.length >= limit || words.length === 1) return ranked(whole, words).slice(0, limit)
  // One question for all words: behind a server each question costs a way there and back.
  const [first, ...others] = words.map((word) =>
    db.selectFrom(facts(db, holding(db, where, [word], OF_A_WORD), OF_A_WORD).as('of_word')).select(COLUMNS),
  )
  const some = (await others.reduce((all, one) => all.unionAll(one), first!).execute()) as FoundRow[]
  const candidates = new Map([...whole, ...some].map((row) => [row.id, row]))
  return ranked([...candidates.values()], words).slice(0, limit)
}

/** The latest facts that the index gives; null: of all that can be found. */
const found = async (db: Kysely<Database>, condition: RawBuilder<boolean> | null, limit: number) =>
  (await facts(db, condition, limit).execute()) as FoundRow[]

function facts(db: Kysely<Database>, condition: RawBuilder<boolean> | null, limit: number) {
  const query = db.selectFrom('memories').select(COLUMNS).where('words', 'is not', null)
  return (condition === null ? query : query.where(condition)).orderBy('started', 'desc').limit(limit)
}

/**
 * SQL that a fact has one of the words of its places and all of the others, in the full-text language of the database;
 * `limit`: only the latest ones are wanted.
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
