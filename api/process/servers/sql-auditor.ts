import type pg from 'pg'
import { openPool } from '../../../projections/postgres.ts'
import { Problem } from '../../operations/problem.ts'
import {
  Collected,
  cellOf,
  type PastState,
  type SqlAuditor,
  type SqlLimits,
  type SqlResult,
  selectIn,
} from '../../operations/sql/auditor.ts'
import type { ServersConfig } from '../config/settings.ts'
import { schemasOf } from './schema-names.ts'

/** The most bytes that the server may send for one answer. */
const MOST_SENT = 64 * 1024 * 1024
/** The time for the connection to answer after the question's time limit, in ms. */
const GRACE_MS = 2_000
/** Concurrent questions. Others wait for a connection. */
const AT_ONCE = 2

/** Describes any right of the SQL login beyond reading the views. */
const POWERS = `select distinct what from (
  select case when rolsuper then 'is a superuser' when rolcreaterole then 'makes roles' when rolcreatedb then 'makes databases'
      when rolreplication then 'replicates' when rolbypassrls then 'passes over row security'
      when rolname ~ '^pg_' then 'is in ' || rolname end as what
    from pg_roles r where pg_has_role(current_user, r.oid, 'member')
  union all
  select 'may write to ' || n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname ~ $1 and c.relkind in ('r', 'v') and has_table_privilege(c.oid, 'insert, update, delete, truncate')
  union all
  select 'may read ' || n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname ~ $1 and n.nspname <> $2 and c.relkind = 'r' and has_schema_privilege(n.oid, 'usage')
      and has_table_privilege(c.oid, 'select')) as powers
  where what is not null order by 1 limit 3`

/** Converts exact numbers. Other values keep the server's text. */
const types = { getTypeParser: () => (text: string | Buffer) => String(text) }
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700])
const BOOLEAN = 16

function cell(text: unknown, type: number): ReturnType<typeof cellOf> {
  if (text === null) return null
  if (type === BOOLEAN) return Number(text === 't')
  const number = Number(text)
  const isExact =
    NUMBERS.has(type) && Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))
  return isExact ? number : cellOf(text)
}

/**
 * Answers SQL questions with a PostgreSQL login that may only read the published views. The server itself refuses
 * everything else. Each question has a separate connection, a read-only transaction, and a time limit that the server
 * enforces.
 */
export class PostgresAuditor implements SqlAuditor {
  readonly dialect = 'postgres'
  readonly #pool: ReturnType<typeof openPool> | null
  readonly #schema: string
  readonly #past: Pick<SqlAuditor, 'ask' | 'close'>
  /** `past` answers questions about past positions, in the SQL of SQLite. */
  constructor(
    { auditPostgres, namespace }: Pick<ServersConfig, 'auditPostgres' | 'namespace'>,
    past: Pick<SqlAuditor, 'ask' | 'close'>,
  ) {
    this.#past = past
    this.#schema = schemasOf(namespace).tables
    this.#pool = auditPostgres === null ? null : openPool({ url: auditPostgres, max: AT_ONCE })
  }

  async ask(text: string, limits: SqlLimits, state?: PastState): Promise<SqlResult> {
    if (state !== undefined) return this.#past.ask(text, limits, state)
    const { rows, ms } = limits
    const one = selectIn(text)
    if (one === null) throw new Problem('SQL_REFUSED', 'this is no SELECT; send one SELECT over the tables')
    if (this.#pool === null) throw new Problem('SQL_UNAVAILABLE', NO_LOGIN)
    const client = await this.#pool.connect().catch((error: Error) => {
      throw new Problem('SQL_UNAVAILABLE', `the login of KEEPUP_AUDIT_POSTGRES cannot be used: ${error.message}`)
    })
    const late = setTimeout(() => socketOf(client).destroy(), ms + GRACE_MS)
    const sent = { bytes: 0 }
    socketOf(client).on('data', (chunk: Buffer) => {
      sent.bytes += chunk.length
      if (sent.bytes > MOST_SENT) socketOf(client).destroy()
    })
    try {
      await this.#mustOnlyRead(client)
      await client.query(
        `begin read only; set local search_path to "${this.#schema}"; set local statement_timeout to ${ms}`,
      )
      const asked = { text: `select * from (\n${one}\n) as asked limit ${rows + 1}`, rowMode: 'array' as const, types }
      const found = await client.query<unknown[]>(asked)
      const kept = new Collected(rows)
      for (const row of found.rows as unknown[][])
        if (!kept.add(row.map((value, i) => cell(value, found.fields[i]!.dataTypeID)))) break
      return { columns: found.fields.map((field) => field.name), rows: kept.rows, more: kept.more }
    } catch (error) {
      throw problemOf(error as Error & { code?: string }, ms, sent.bytes > MOST_SENT)
    } finally {
      clearTimeout(late)
      // Discard the connection, because it keeps the locks and settings of the question.
      client.release(true)
    }
  }

  async close(): Promise<void> {
    await this.#past.close()
    await this.#pool?.shut()
  }

  async #mustOnlyRead(client: pg.PoolClient): Promise<void> {
    const found = await client.query<{ what: string }>(POWERS, [`^${this.#schema}(_|$)`, this.#schema])
    if (found.rows.length === 0) return
    const powers = found.rows.map(({ what }) => what).join(', ')
    throw new Problem(
      'SQL_UNAVAILABLE',
      `the login of KEEPUP_AUDIT_POSTGRES may do more than read the views: it ${powers}; ${MAKE}`,
    )
  }
}

const MAKE =
  'make one with "keepup auditors --login NAME", and set KEEPUP_AUDIT_POSTGRES to the connection string that it prints'

const NO_LOGIN = `on servers questions in SQL need a login of PostgreSQL that can only read: ${MAKE}`

const socketOf = (client: pg.PoolClient) =>
  (client as unknown as { connection: { stream: import('node:net').Socket } }).connection.stream

/** SQLSTATEs of an invalid or forbidden statement, and of a time limit. */
const REFUSED = /^(42|0A|25006)/
const TIMED_OUT = '57014'

function problemOf(error: Error & { code?: string }, ms: number, tooMuch: boolean): Error {
  if (error instanceof Problem) return error
  const { code = '', message } = error
  if (tooMuch) return new Problem('SQL_LIMIT', 'the answer has too many bytes; ask for less')
  if (code === TIMED_OUT || !/^[0-9A-Z]{5}$/.test(code))
    return new Problem('SQL_LIMIT', `the question took more than ${ms} ms; ask for less, or allow it more time`)
  return REFUSED.test(code)
    ? new Problem('SQL_REFUSED', `${message}; send one SELECT over the published views`)
    : new Problem('SQL_FAILED', `the question failed: ${message}`)
}
