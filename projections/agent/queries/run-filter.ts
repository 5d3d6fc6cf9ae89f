import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { ROLES } from '../../../domain/agent/definition/roles.ts'
import type { Database } from '../../engine/schema/database.ts'
import { pathCell } from '../rows/touched-files.ts'
import { reached } from './still-matters.ts'
import type { WaitingReason } from './waiting.ts'

export type RunStatusName = 'active' | 'recovering' | 'completed' | 'failed'

/** Filters a list of runs. A run must match all members. */
export interface RunFilter {
  readonly status?: RunStatusName
  /** The code at the end of the run, for example CANCELLED. */
  readonly error?: string
  readonly role?: string
  /** The requested model. */
  readonly model?: string
  /** Minimum cost, exclusive, in nano-dollars. */
  readonly over?: number
  /** A file that a call of the run read or wrote, or that an external agent reported as edited. Relative or absolute path. */
  readonly file?: string
  /** The person who started the run, decided one of its approvals, or gave it input. */
  readonly person?: string
  /** Time of the start, ISO 8601; `until` is exclusive. */
  readonly since?: string
  readonly until?: string
  /** The beginning of the run's id. */
  readonly prefix?: string
  /** An agent of the run waits for one of these reasons. */
  readonly waiting?: readonly WaitingReason['for'][]
  /** A tag that the run has. */
  readonly tag?: string
  /** It occurs in what {@link saying} searches, in the task, or in a text of an event. */
  readonly text?: string
}

export type RunsQuery<O> = SelectQueryBuilder<Database, 'runs', O>

/** Sorts after every character. */
const LAST = '\u{10ffff}'

/** Applies a filter to a query of `runs`, except `text`. */
export function filtered<O>(query: RunsQuery<O>, f: RunFilter): RunsQuery<O> {
  let q = query
  if (f.status !== undefined) q = q.where('status', '=', f.status)
  // A literal instead of a parameter, so that the partial index is used.
  if (f.error === 'CANCELLED') q = q.where(sql<boolean>`code = 'CANCELLED'`)
  else if (f.error !== undefined) q = q.where('code', '=', f.error)
  if (f.role !== undefined) q = q.where(ownOrInherited('role', f.role))
  if (f.model !== undefined) q = q.where(ownOrInherited('model', f.model))
  if (f.since !== undefined) q = q.where('created_at', '>=', f.since)
  if (f.until !== undefined) q = q.where('created_at', '<', f.until)
  if (f.prefix !== undefined) q = q.where('id', '>=', f.prefix).where('id', '<', f.prefix + LAST)
  if (f.tag !== undefined) q = q.where(sql<boolean>`id in (select run_id from run_tags where tag = ${f.tag})`)
  if (f.person !== undefined) q = q.where(sql<boolean>`id in (${runsOfPerson(f.person)})`)
  if (f.file !== undefined) q = q.where(sql<boolean>`id in (${runsWithFile(f.file)})`)
  if (f.waiting !== undefined)
    q = q.where(sql<boolean>`id in (select run_id from waiting
      where reason in (${sql.join(f.waiting)}) and ${reached('waiting.agent_id')})`)
  if (f.over !== undefined) {
    const cost = sql`(select coalesce(sum(m.nano_dollars), 0) from model_calls m where m.run_id = runs.id)`
    q = q.where(sql<boolean>`${cost} > ${f.over}`)
  }
  return q
}

/** A fork's row has only changed values; unchanged ones come from the run that its history began with. */
function ownOrInherited(column: 'role' | 'model', value: string): RawBuilder<boolean> {
  const name = sql.ref(column)
  // A request says "coder"; the built-in role records "Coder", and a role file that takes its place "coder".
  const recorded = column === 'role' ? (ROLES[value]?.name ?? value) : value
  const same = (one: RawBuilder<unknown>) => sql`${one} in (${value}, ${recorded})`
  return sql<boolean>`(id in (select id from runs where ${same(name)} union all
    select f.id from runs f where f.forked_from > '' and f.${name} is null and ${same(sql`(
      with recursive up(value, source) as (
        select s.${name}, s.forked_from from runs s where s.id = f.forked_from
        union all
        select s.${name}, s.forked_from from up join runs s on s.id = up.source where up.value is null)
      select value from up where value is not null limit 1)`)}))`
}

function runsOfPerson(person: string): RawBuilder<unknown> {
  const said = sql`(${`user:${person}`}, ${`approver:${person}`})`
  return sql`select id from runs where created_by in ${said}
    union all select run_id from inputs where ${sql.ref('by')} in ${said}
    union all select run_id from approvals where decided_by in ${said}
    union all select run_id from approval_supports where ${sql.ref('by')} in ${said}
    union all select run_id from standing_approvals where ${sql.ref('by')} in ${said}`
}

/**
 * Runs with a call that ran, and runs with an external agent that reported the file. A refused call of keepup's own
 * agents has touched nothing. An external agent may name a file in its folder by its absolute path.
 */
function runsWithFile(file: string): RawBuilder<unknown> {
  const touched = sql`select f.run_id from touched_files f
    left join tool_calls t on t.agent_id = f.agent_id and t.id = f.tool_call_id`
  const ran = sql`(t.ran = 1 or t.id is null)`
  if (!file.startsWith('/')) {
    const path = file.replace(/^\.\//, '')
    return sql`${touched} where ${ran} and f.path = ${pathCell(path)}
      union ${touched} join runs r on r.id = f.run_id
      where t.id is null and f.path = r.workspace || '/' || ${path} and f.path in (
        select distinct w.workspace || '/' || ${path} from agents a join runs w on w.id = a.run_id where a.backend > '')`
  }
  const parts = file.split('/')
  const ends = parts.map((_, i) => pathCell(parts.slice(i).join('/'))).filter((end) => end !== '')
  return sql`${touched} join runs r on r.id = f.run_id
    where ${ran} and f.path in (${sql.join(ends)}) and (r.workspace || '/' || f.path = ${file} or f.path = ${file})`
}

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * The runs that contain a text, ignoring the case of A to Z: in their summary, notes and tags, in the names of called
 * tools, in the paths that calls name or change, and in the messages of failed calls. For texts of events see
 * `newestTexts`.
 */
export async function saying(db: Kysely<Database>, ids: readonly string[], text: string): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const pattern = `%${asciiLower(text).replaceAll(/[\\%_]/g, '\\$&')}%`
  const holds = (column: string) => sql`lower(${sql.ref(column)}) like ${pattern} escape '\\'`
  const among = sql`(${sql.join(ids)})`
  const { rows } = await sql<{ id: string }>`
    select id from runs where id in ${among} and ${holds('summary')}
    union select run_id from run_notes where run_id in ${among} and ${holds('text')}
    union select run_id from run_tags where run_id in ${among} and ${holds('tag')}
    union select run_id from tool_calls where agent_id in (select id from agents where run_id in ${among})
      and (${holds('tool_name')} or ${holds('message')})
    union select run_id from touched_files where agent_id in (select id from agents where run_id in ${among})
      and ${holds('path')}`.execute(db)
  return new Set(rows.map((row) => row.id))
}

/** Whether a text contains another, compared as in {@link saying}. */
export const holdsText = (whole: string, part: string): boolean => asciiLower(whole).includes(asciiLower(part))
