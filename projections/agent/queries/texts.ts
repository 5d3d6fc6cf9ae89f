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

/** The number of texts and bytes that one page examines at most, up to the end of an event. They bound the time for rare texts. */
export const TEXTS_EXAMINED = 40_000
export const BYTES_EXAMINED = 32 * 1024 * 1024
/** The number of texts whose sizes one statement reads. */
const SLICE = 5_000
/** The number of texts and bytes that one statement compares. SQLite blocks the thread during a statement. */
const BATCH_TEXTS = 500
const BATCH_BYTES = 1024 * 1024

/** A text without its characters. */
interface TextSize extends TextPlace {
  readonly run_id: string
  readonly part: number
  readonly bytes: number
}

interface Batch {
  readonly found: readonly FoundText[]
  readonly last: TextSize
  readonly texts: number
  readonly bytes: number
  /** The next text, if one exists, belongs to another event. */
  readonly endsEvent: boolean
  readonly endsAll: boolean
}

interface Scan {
  readonly text: string
  /** Absent: all runs. */
  readonly runIds?: readonly string[] | undefined
  readonly before?: number | undefined
  /** Whether to examine the texts of a run. Default: every run. */
  readonly wants?: (runId: string) => boolean
}

/**
 * Texts of events that contain a text, ignoring the case of A to Z, newest event first. A page that has examined
 * {@link TEXTS_EXAMINED} texts or {@link BYTES_EXAMINED} bytes may be empty and have a next one. A page has whole events, so that the next page
 * can begin after one: it has more than `limit` texts if its first event alone has more.
 */
export async function searchTexts(db: Kysely<Database>, { text, runId, before, limit }: Searched): Promise<TextsPage> {
  const found: FoundText[] = []
  let [texts, bytes] = [0, 0]
  for await (const batch of scan(db, { text, before, runIds: runId === undefined ? undefined : [runId] })) {
    found.push(...batch.found)
    texts += batch.texts
    bytes += batch.bytes
    if (!batch.endsEvent) continue
    if (found.length > limit) return cutAt(found, limit, batch.endsAll)
    if (!batch.endsAll && (texts >= TEXTS_EXAMINED || bytes >= BYTES_EXAMINED)) return { found, next: batch.last }
  }
  return found.length > limit ? cutAt(found, limit, true) : { found, next: null }
}

/** The first whole events with at most `limit` texts, or the first event alone. */
function cutAt(found: readonly FoundText[], limit: number, endsAll: boolean): TextsPage {
  const first = found[0]!.position
  const beyond = found[limit]!.position
  const whole = found.filter(({ position }) => position > beyond || position === first)
  return { found: whole, next: endsAll && whole.length === found.length ? null : whole.at(-1)! }
}

/** Compares texts in batches of bounded size, newest event first. */
async function* scan(db: Kysely<Database>, { text, runIds, before, wants = () => true }: Scan): AsyncGenerator<Batch> {
  const isWanted = ({ run_id }: TextSize) => wants(run_id)
  for (let after: TextSize | undefined; ; ) {
    const slice = await sizes(db, runIds, before, after)
    const isLast = slice.length < SLICE
    for (let rest = slice.filter(isWanted); rest.length > 0; ) {
      let [count, bytes] = [0, 0]
      do bytes += rest[count++]!.bytes
      while (count < rest.length && count < BATCH_TEXTS && bytes + rest[count]!.bytes <= BATCH_BYTES)
      const batch = rest.slice(0, count)
      const last = batch.at(-1)!
      const next = rest[count]
      yield {
        found: await matching(db, batch, text),
        ...{ last, texts: batch.length, bytes },
        endsEvent: next === undefined ? isLast : next.position !== last.position,
        endsAll: next === undefined && isLast,
      }
      // The consumer may want fewer runs after each batch.
      rest = rest.slice(count).filter(isWanted)
    }
    if (isLast) return
    after = slice.at(-1)!
  }
}

/** The sizes of the texts after a text, newest event first. The database reads sizes without the texts. */
function sizes(
  db: Kysely<Database>,
  runIds: readonly string[] | undefined,
  before: number | undefined,
  after: TextSize | undefined,
): Promise<TextSize[]> {
  let query = db
    .selectFrom('run_texts as t')
    .innerJoin('agents as a', 'a.id', 't.agent_id')
    .select(['t.agent_id', 't.run_id', 't.revision', 't.position', 't.part', 'a.backend'])
    .select(sql<number>`octet_length(${sql.ref('t.text')})`.as('bytes'))
    .orderBy('t.position', 'desc')
    .orderBy('t.part')
    .limit(SLICE)
  if (before !== undefined) query = query.where('t.position', '<', before)
  if (runIds !== undefined) query = query.where(ofRuns('t.agent_id', runIds))
  if (after !== undefined)
    query = query
      .where('t.position', '<=', after.position)
      .where(sql<boolean>`not (t.position = ${after.position} and t.part <= ${after.part})`)
  return query.execute()
}

/** The texts of a batch that contain a text. A batch may begin and end inside an event. */
async function matching(db: Kysely<Database>, batch: readonly TextSize[], text: string): Promise<FoundText[]> {
  const [first, last] = [batch[0]!, batch.at(-1)!]
  return db
    .selectFrom('run_texts as t')
    .innerJoin('agents as a', 'a.id', 't.agent_id')
    .selectAll('t')
    .select('a.backend')
    .where('t.position', 'in', [...new Set(batch.map(({ position }) => position))])
    .where(sql<boolean>`not (t.position = ${first.position} and t.part < ${first.part})`)
    .where(sql<boolean>`not (t.position = ${last.position} and t.part > ${last.part})`)
    .where(containing(db, 't.text', text))
    .orderBy('t.position', 'desc')
    .orderBy('t.part')
    .execute()
}

/** For each run, its newest text that contains a text, and the bytes examined. Runs without one are absent. */
export async function newestTexts(
  db: Kysely<Database>,
  runIds: readonly string[],
  text: string,
): Promise<{ readonly found: ReadonlyMap<string, FoundText>; readonly bytes: number }> {
  const found = new Map<string, FoundText>()
  let examined = 0
  if (runIds.length === 0) return { found, bytes: 0 }
  for await (const batch of scan(db, { text, runIds, wants: (runId) => !found.has(runId) })) {
    for (const row of batch.found) if (!found.has(row.run_id)) found.set(row.run_id, row)
    examined += batch.bytes
    if (found.size === runIds.length) break
  }
  return { found, bytes: examined }
}

/**
 * Runs in groups whose texts one statement can list. The number of events estimates the number of texts; a run with
 * more is a group of its own.
 */
export async function groupsOfRuns(db: Kysely<Database>, runIds: readonly string[]): Promise<string[][]> {
  if (runIds.length === 0) return []
  const rows = await db
    .selectFrom('agents')
    .select(['run_id', sql<number>`sum(revision + 1)`.as('events')])
    .where('run_id', 'in', runIds)
    .groupBy('run_id')
    .execute()
  const events = new Map(rows.map((row) => [row.run_id, Number(row.events)]))
  const groups: string[][] = []
  let sum = 0
  for (const id of runIds) {
    const own = events.get(id) ?? 0
    if (groups.length > 0 && sum + own <= SLICE) {
      groups.at(-1)!.push(id)
      sum += own
    } else {
      groups.push([id])
      sum = own
    }
  }
  return groups
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
