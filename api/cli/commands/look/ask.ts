import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { AuditQuestion, QuestionAnswer, QuestionInputs } from '../../../operations/ask/schemas.ts'
import { csvOf } from '../../../operations/sql/formats.ts'
import { isNear } from '../../../operations/text/spelling.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { type Kit, whole } from '../kit.ts'

interface AskOptions extends Omit<QuestionInputs, 'run' | 'turn'> {
  readonly turn?: number
  readonly limit?: number
  readonly csv?: true
  /** The global option. */
  readonly config?: string
}

/** Runs the command that answers a question. */
async function runCommand(
  ctx: Context,
  kit: Kit,
  command: string,
  inputs: QuestionInputs,
  config?: string,
): Promise<number> {
  const words = command
    .split(' ')
    .map((word) => word.replace(/^(RUN|TURN)(?=$|\.)/, (name) => inputs[name === 'RUN' ? 'run' : 'turn'] ?? name))
  ctx.note(ctx.command(...words))
  const by = ctx.config.by === null ? [] : ['--by', ctx.config.by]
  const where = ['--data', ctx.config.data, ...(config === undefined ? [] : ['--config', config]), ...by]
  await ctx.leave()
  return kit.runCli([...where, '--output', ctx.format, ...words])
}

function listQuestions(ctx: Context, questions: readonly AuditQuestion[]): number {
  ctx.list(questions, [
    { title: 'NAME', of: ({ name }) => name },
    { title: 'QUESTION', of: ({ title }) => title, flexible: true },
    {
      title: 'ABOUT',
      of: ({ inputs }) => inputs.map(({ name, required }) => (required ? name.toUpperCase() : name)).join(' '),
    },
  ])
  ctx.note(`ask one with "${ctx.command('ask', 'NAME', '[RUN]')}"; inputs in capitals are required`)
  return EXIT.done
}

function showAnswer(ctx: Context, { columns, rows, more }: QuestionAnswer, csv: boolean): void {
  if (csv || ctx.format === 'csv') ctx.data(csvOf({ columns, rows }))
  else {
    const records = rows.map((row) => Object.fromEntries(row.map((cell, i) => [columns[i]!, cell])))
    ctx.list(
      records,
      columns.map((title) => ({ title, of: (record) => record[title] ?? null })),
    )
  }
  if (more) ctx.note('there are more rows; raise --limit')
}

async function ask(
  ctx: Context,
  kit: Kit,
  [name, run]: readonly string[],
  { limit, csv, turn, config, ...given }: AskOptions,
) {
  const client = await ctx.client('read')
  const { questions } = await take(client.v1.ask.$get({}))
  if (name === undefined) return listQuestions(ctx, questions)
  const question = questions.find((one) => one.name === name)
  const all = ctx.command('ask')
  if (question === undefined) {
    const near = questions.find((one) => isNear(name, one.name))
    const hint = near === undefined ? '' : ` (did you mean "${near.name}"?)`
    throw new UsageError(`there is no question "${name}"${hint}; "${all}" lists them`)
  }
  const inputs = inputsOf(question, {
    ...given,
    ...(run !== undefined && { run: await ctx.runId(run, 'read') }),
    ...(turn !== undefined && { turn: `${turn}` }),
  })
  if (question.command !== null) {
    if (csv || limit !== undefined)
      throw new UsageError(`"${name}" is answered by "${question.command}", which has no --csv and no --limit`)
    return runCommand(ctx, kit, question.command, inputs, config)
  }
  const query = { ...inputs, ...(limit !== undefined && { limit: `${limit}` }) }
  const answer = await take(client.v1.ask[':name'].$get({ param: { name }, query }))
  showAnswer(ctx, answer, csv === true)
  return EXIT.done
}

/** The inputs of a question by name. Throws a UsageError for a missing or unknown input. */
function inputsOf({ name, inputs }: AuditQuestion, all: Readonly<Record<string, unknown>>): QuestionInputs {
  const given = Object.fromEntries(
    inputs.flatMap((one) => (all[one.name] === undefined ? [] : [[one.name, all[one.name]]])),
  )
  const asked = (input: string) => (input === 'run' ? 'a run' : `--${input}`)
  const surplus = Object.keys(QUESTION_OPTIONS).find((key) => all[key] !== undefined && !(key in given))
  if (surplus !== undefined) throw new UsageError(`"${name}" does not ask about ${asked(surplus)}`)
  const lacking = inputs.find((one) => one.required && !(one.name in given))
  if (lacking !== undefined) throw new UsageError(`"${name}" needs ${asked(lacking.name)}, such as ${lacking.example}`)
  return given
}

const QUESTION_OPTIONS = { run: '', path: '', person: '', from: '', to: '', dollars: '', turn: '' } satisfies Record<
  keyof QuestionInputs,
  string
>

export function askCommand(program: Command, kit: Kit): void {
  program
    .command('ask')
    .description('answer a question of auditors; without a name: list the questions')
    .argument('[name]', 'the question')
    .argument('[run]', 'the run that it is about, or the beginning of its id')
    .option('--path <file>', 'a file in the workspace')
    .option('--person <name>', 'a person or service, such as ada')
    .option('--from <time>', 'from this day or time on, such as 2026-11-23 or 2d')
    .option('--to <time>', 'before this day or time')
    .option('--dollars <amount>', 'an amount of money')
    .option('--turn <n>', 'a turn', whole('--turn'))
    .option('--limit <n>', 'the most rows (default 1000)', whole('--limit', 1))
    .option('--csv', 'as CSV')
    .action(kit.action<AskOptions>((ctx, args, options) => ask(ctx, kit, args, options)))
}
