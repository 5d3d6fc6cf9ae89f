import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import { cellOf } from '../../../operations/sql/auditor.ts'
import { filled, savedQuestions } from '../../../operations/sql/saved-questions.ts'
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

Examples:
  keepup sql --saved approvals
  keepup sql --saved file --set path=src/index.ts
  keepup sql "select event_type, count(*) from events group by 1"
  keepup sql -o jsonl "select step, usage_cost from checkpoints where thread_id = 'RUN' order by step"

On servers ask with psql, in the schema of the namespace; JSON is read as payload::jsonb ->> 'toolName', and \\dv names all views:
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

interface SqlOptions {
  saved?: string
  list?: boolean
  set?: Record<string, string>
}

const dialectOf = (ctx: Context) => (onServers(ctx.config) ? 'postgres' : 'sqlite')

function listSaved(ctx: Context): number {
  const questions = savedQuestions(dialectOf(ctx))
  ctx.list(
    questions.map(({ name, title, inputs, sql }) => ({
      name,
      title,
      set: inputs.map((input) => input.name).join(' '),
      sql,
    })),
    [
      { title: 'NAME', of: (q) => q.name },
      { title: 'QUESTION', of: (q) => q.title, flexible: true },
      { title: 'SET', of: (q) => q.set },
    ],
  )
  return EXIT.done
}

/** The SQL of a saved question with its inputs. */
function savedText(ctx: Context, { saved, set = {} }: SqlOptions): string {
  const found = savedQuestions(dialectOf(ctx)).find(({ name }) => name === saved)
  const all = ctx.command('sql', '--list')
  if (found === undefined) throw new UsageError(`there is no saved question "${saved}"; "${all}" lists them`)
  const lacking = found.inputs.find(({ name }) => !set[name])
  if (lacking !== undefined)
    throw new UsageError(`"${found.name}" asks about a ${lacking.label.toLowerCase()}: --set ${lacking.name}=VALUE`)
  const surplus = Object.keys(set).find((name) => !found.inputs.some((input) => input.name === name))
  if (surplus !== undefined)
    throw new UsageError(`"${found.name}" has no ${surplus} to set; "${all}" names what it has`)
  return filled(found, set)
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

async function sql(ctx: Context, given: string | undefined, options: SqlOptions): Promise<number> {
  const { namespace } = ctx.config
  if (options.list) return listSaved(ctx)
  if ((given === undefined) === (options.saved === undefined))
    throw new UsageError('give a SELECT, or the name of a saved question with --saved')
  const text = given ?? savedText(ctx, options)
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

/** Collects `name=value` options. */
function pair(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--set: expected NAME=VALUE, not "${text}"`)
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

export function sqlCommand(program: Command, kit: Kit): void {
  program
    .command('sql')
    .description('ask the tables and the log in SQL; nothing can be written')
    .argument('[select]')
    .option('--saved <name>', 'a question that auditors ask, by its name')
    .option('--set <name=value>', 'what a saved question asks about', pair)
    .option('--list', 'the saved questions')
    .addHelpText('after', COLUMNS.replaceAll('keepup sql', `${kit.io.program} sql`))
    .action(kit.action<SqlOptions>((ctx, [text], options) => sql(ctx, text, options)))
}
