import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import { omitUndefined } from '../../../operations/omit-undefined.ts'
import { cellOf, MOST_BYTES } from '../../../operations/sql/auditor.ts'
import { MOST_MS, MOST_ROWS } from '../../../operations/sql/schemas.ts'
import { onServers } from '../../../process/config/settings.ts'
import { question } from '../../../process/embedded/sql/statement.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import type { Kit } from '../kit.ts'

const COLUMNS = `
Tables, and views with the same columns on servers:
  checkpoints    id thread_id step timestamp state_blob pending_tools completed_tools usage_tokens usage_cost
  events         id thread_id event_type timestamp payload
                 event_id stream run_id agent_id turn revision tool_call_id
  artifacts      id run_id agent_id checkpoint_id artifact_type path content metadata created_at
                 artifact_id title claimed tool_call_id revision position
  agent_lineage  id run_id parent_agent_id role status depth created_at completed_at
                 usage_input_tokens usage_output_tokens usage_cost
                 code turn step revision nano_dollars in_doubt_tokens in_doubt_nano_dollars
                 unpriced_calls incomplete_from backend ungoverned

A thread is an agent. state_blob, pending_tools, completed_tools, metadata and payload are JSON: payload ->> '$.toolName'.
All that there is: select name from sqlite_schema. What was erased is null. agent_lineage counts an agent's own use; agent_lineage_totals that of its whole tree.
usage_cost and total_cost are dollars with a point; nano_dollars and total_nano_dollars are exact, to be added up.

Examples ("keepup ask" has questions that need no SQL):
  keepup sql "select event_type, count(*) from events group by 1"
  keepup sql -o jsonl "select step, usage_cost from checkpoints where thread_id = 'RUN' order by step"
  keepup sql --at CURSOR --to CURSOR "select id, status, code from runs"

An answer with --at has at most ${MOST_ROWS} rows and ${MOST_BYTES / 1024 / 1024} MiB; a larger one is refused. Without --at there is no limit.

On servers --at is answered in the SQL of SQLite. Without --at ask with psql, in the schema of the namespace; JSON is read as payload::jsonb ->> 'toolName', and \\dv names all views:
  PGOPTIONS='-c search_path=keepup' psql "$KEEPUP_POSTGRES" -c "select event_type, count(*) from events group by 1"
`

type Row = Record<string, string | number | null>

const plain = (row: Record<string, unknown>): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(value)]))

/** The rows of a query. Errors during the query become CliErrors. */
function* rowsOf(query: StatementSync): Generator<Row> {
  try {
    for (const row of query.iterate()) yield plain(row)
  } catch (error) {
    throw new CliError(`the query failed: ${(error as Error).message}`)
  }
}

/** Prepares the single statement of a text. Throws a UsageError. */
function asked(ctx: Context, db: DatabaseSync, text: string): StatementSync {
  try {
    return question(db, text)
  } catch (error) {
    const help = ctx.command('sql', '--help')
    throw new UsageError(`${(error as Error).message}\nonly one SELECT is run; "${help}" names the tables`)
  }
}

interface SqlOptions {
  readonly at?: string
  readonly to?: string
  readonly key?: string
  readonly erased?: true
}

/** Asks the tables as they were at a position, or about the difference of two. */
async function sqlAt(ctx: Context, text: string, { key, ...places }: SqlOptions): Promise<number> {
  const json = {
    ...{ sql: text, limit: MOST_ROWS, timeoutMs: MOST_MS, ...places },
    ...(key !== undefined && { key: key.split(',').map((name) => name.trim()) }),
  }
  const { columns, rows, more } = await take((await ctx.client('read')).v1.sql.$post({ json }))
  if (more)
    throw new CliError(
      `the answer has more than ${MOST_ROWS} rows, or more bytes than an answer may have; ask for less, such as with "limit ${MOST_ROWS}"`,
    )
  ctx.list(
    rows.map((row) => Object.fromEntries(row.map((cell, i) => [columns[i]!, cell]))),
    columns.map((title) => ({ title, of: (row) => row[title] ?? null })),
  )
  return EXIT.done
}

async function sql(ctx: Context, text: string, places: SqlOptions): Promise<number> {
  if (Object.keys(places).length > 0) return sqlAt(ctx, text, places)
  const { namespace } = ctx.config
  if (onServers(ctx.config))
    throw new CliError(
      `the tables are in PostgreSQL, in the schema ${namespace}: PGOPTIONS='-c search_path=${namespace}' psql "$KEEPUP_POSTGRES"; ` +
        `"${ctx.command('sql', '--help')}" names them`,
    )
  // This request makes the folder's owner, or else this process, bring the tables up to the log.
  const { position, head } = await take((await ctx.client('read')).v1.projections.$get({}))
  if (position !== head) ctx.note('the tables lag behind the log')
  const { openSql } = await import('../../../process/embedded/open-sql.ts')
  const { db, close } = openSql(ctx.config.data)
  try {
    const query = asked(ctx, db, text)
    if (ctx.format === 'jsonl') {
      for (const row of rowsOf(query)) await ctx.flow(`${JSON.stringify(row)}\n`)
      return EXIT.done
    }
    const rows = [...rowsOf(query)]
    const columns = query.columns().map(({ name }) => ({ title: name, of: (row: Row) => row[name] ?? null }))
    ctx.list(rows, columns)
    return EXIT.done
  } finally {
    close()
  }
}

export function sqlCommand(program: Command, kit: Kit): void {
  program
    .command('sql')
    .description('ask the tables and the log in SQL; nothing can be written')
    .argument('<select>')
    .option('--at <cursor>', 'the tables as they were after the event at this cursor, such as `position` of an answer')
    .option('--to <cursor>', 'only the rows that differ there from --at: added, removed, or before and after a change')
    .option(
      '--key <columns>',
      'with --to: the columns that tell rows apart, separated by commas (default: the first one)',
    )
    .option('--erased', 'with --at: texts that were erased later are null, in place of an error')
    .addHelpText('after', COLUMNS.replaceAll('keepup sql', `${kit.io.program} sql`))
    .action(
      kit.action<SqlOptions>((ctx, [text], { at, to, key, erased }) =>
        sql(ctx, text!, omitUndefined({ at, to, key, erased })),
      ),
    )
}
