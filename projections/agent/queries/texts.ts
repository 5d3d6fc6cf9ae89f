import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import type { Row } from '../../engine/schema/tables.ts'

export interface Searched {
  readonly text: string
  /** Absent: all runs. */
  readonly runId?: string | undefined
  /** Only texts of events before this position. */
  readonly before?: number | undefined
  readonly limit: number
}

/** A text that contains the searched one. `backend`: the kind of an external agent; null: an agent of keepup. */
export type FoundText = Row<'run_texts'> & { readonly backend: string | null }

/** The event of a text. */
export type TextPlace = Pick<FoundText, 'agent_id' | 'revision' | 'position' | 'backend'>

export interface TextsPage {
  readonly found: readonly FoundText[]
  /** The next page is before this event; null: this is the last page. */
  readonly next: TextPlace | null
}

/** The number of texts that one statement examines, and that one page examines at most. This bounds the time for rare texts. */
const SLICE = 5_000
export const TEXTS_EXAMINED = 40_000

/**
 * Texts of events that contain a text, ignoring the case of A to Z, newest event first. A page that has examined
 * {@link TEXTS_EXAMINED} texts may be empty and have a next one. If an event has more
 * texts than `limit`, the page has the first ones.
 */
export async function searchTexts(db: Kysely<Database>, { text, runId, before, limit }: Searched): Promise<TextsPage> {
  const found: FoundText[] = []
  let next: TextPlace | undefined
  for (let examined = 0; examined < TEXTS_EXAMINED; examined += SLICE) {
    const slice = textsBefore(db, runId, next?.position ?? before)
    next = await slice
      .offset(SLICE - 1)
      .limit(1)
      .executeTakeFirst()
    let query = slice.where(containing(db, 't.text', text)).limit(limit + 1 - found.length)
    if (next !== undefined) query = query.where('t.position', '>=', next.position)
    found.push(...(await query.execute()))
    if (found.length > limit) return cutAt(found, limit)
    if (next === undefined) return { found, next: null }
  }
  return { found, next: next ?? null }
}

/** Texts of events before a position, newest event first. */
function textsBefore(db: Kysely<Database>, runId: string | undefined, before: number | undefined) {
  let query = db
    .selectFrom('run_texts as t')
    .innerJoin('agents as a', 'a.id', 't.agent_id')
    .selectAll('t')
    .select('a.backend')
    .orderBy('t.position', 'desc')
    .orderBy('t.part')
  if (before !== undefined) query = query.where('t.position', '<', before)
  if (runId !== undefined) query = query.where(ofRuns('t.agent_id', [runId]))
  return query
}

/** The first texts, up to the last whole event. */
function cutAt(found: readonly FoundText[], limit: number): TextsPage {
  const first = found[0]!.position
  const beyond = found[limit]!.position
  const whole = found.filter(({ position }, at) => position > beyond || (position === first && at < limit))
  return { found: whole, next: whole.at(-1)! }
}

/** For each run, its newest text that contains a text. Runs without one are absent. */
export async function newestTexts(
  db: Kysely<Database>,
  runIds: readonly string[],
  text: string,
): Promise<ReadonlyMap<string, FoundText>> {
  if (runIds.length === 0) return new Map()
  const newest = db
    .selectFrom('run_texts')
    .select((of) => ['run_id', of.fn.max('position').as('position')])
    .where(ofRuns('agent_id', runIds))
    .where(containing(db, 'text', text))
    .groupBy('run_id')
    .as('newest')
  const rows = await db
    .selectFrom('run_texts as t')
    .innerJoin(newest, 'newest.position', 't.position')
    .innerJoin('agents as a', 'a.id', 't.agent_id')
    .selectAll('t')
    .select('a.backend')
    .where(containing(db, 't.text', text))
    .orderBy('t.part', 'desc')
    .execute()
  return new Map(rows.map((row) => [row.run_id, row as FoundText]))
}

/** The runs among the given ones with a text that contains a text. */
export async function runsWithText(db: Kysely<Database>, ids: readonly string[], text: string): Promise<string[]> {
  const rows = await db
    .selectFrom('run_texts')
    .select('run_id')
    .distinct()
    .where(ofRuns('agent_id', ids))
    .where(containing(db, 'text', text))
    .execute()
  return rows.map((row) => row.run_id)
}

/** The key begins with the agent, and agents of a run are few. */
const ofRuns = (column: string, runIds: readonly string[]): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} in (select id from agents where run_id in (${sql.join(runIds)}))`

/** SQL: a column contains a text, ignoring the case of A to Z. */
export function containing(db: Kysely<Database>, column: string, text: string): RawBuilder<boolean> {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
  // SQLite's "like" ignores the case of A to Z. PostgreSQL's "ilike" ignores the case of all letters of its locale.
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql<boolean>`${sql.ref(column)} collate "C" ilike ${pattern} escape '\\'`
    : sql<boolean>`${sql.ref(column)} like ${pattern} escape '\\'`
}
