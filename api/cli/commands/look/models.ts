import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { Models, RoutingDecisions } from '../../../operations/models/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { oneLine } from '../../output/text.ts'
import { dollars } from '../../output/units.ts'
import { type Kit, whole } from '../kit.ts'

type Model = Models['models'][number]
type Decision = RoutingDecisions['decisions'][number]['decision']
type Permitted = RoutingDecisions['permitted'][number]
type Figures = NonNullable<Model['figures']>

const healthOf = ({ health, breach }: Figures): string => (breach === undefined ? health : `${health} (${breach})`)

const canDo = ({ tools, vision, forcesCalls }: Model): string =>
  [tools === false ? [] : 'tools', vision ? 'vision' : [], forcesCalls ? 'forced calls' : []].flat().join(', ')

async function list(ctx: Context): Promise<number> {
  const found = (await take((await ctx.client('write')).v1.models.$get({}))) as Models
  if (ctx.format === 'json') {
    ctx.show(found, () => [])
    return EXIT.done
  }
  const { choice } = found
  const right = { side: 'right' } as const
  ctx.list(found.models, [
    { title: 'MODEL', of: (m) => `${m.id}${m.id === choice.resolved ? ' *' : ''}` },
    { title: 'CONTEXT', of: (m) => m.contextTokens, ...right },
    { title: 'INPUT', of: (m) => dollars(m.price?.input ?? null), ...right },
    { title: 'OUTPUT', of: (m) => dollars(m.price?.output ?? null), ...right },
    { title: 'RANK', of: (m) => m.quality ?? 0, ...right },
    { title: 'CAN', of: canDo },
    { title: 'HEALTH', of: (m) => m.figures && healthOf(m.figures), optional: true },
    { title: 'CALLS', of: (m) => m.figures?.calls ?? null, optional: true, ...right },
    { title: 'ERRORS', of: (m) => m.figures && m.figures.errors + m.figures.timeouts, optional: true, ...right },
    { title: 'MEDIAN ms', of: (m) => m.figures?.medianMs ?? null, optional: true, ...right },
  ])
  ctx.note(`* ${choice.resolved}: ${choice.reason}; prices are dollars per million tokens`)
  return EXIT.done
}

function told(decision: Decision): string[] {
  const { requested, resolved, reason, policy, purpose, basis, candidates = [] } = decision
  const left =
    basis === undefined || basis.budgetLeft === null
      ? 'no budget'
      : `${Math.round(basis.budgetLeft * 100)} % of its budget left`
  return [
    `${resolved} for a ${purpose}, policy ${policy}: ${reason}`,
    ...(requested === resolved ? [] : [`  requested: ${requested}`]),
    ...(basis === undefined
      ? []
      : [`  matched on: risk ${basis.risk}, about ${basis.inputTokens} input tokens, ${left}`]),
    ...candidates.map(({ model, refused, nanoDollars, figures }) => {
      const median = figures?.medianMs == null ? '' : `, median ${figures.medianMs} ms`
      const seen = figures === undefined ? 'no call seen' : `${healthOf(figures)}, ${figures.calls} calls${median}`
      const verdict = model === resolved ? 'taken' : refused === undefined ? 'able' : `refused: ${refused}`
      return `  ${model}: ${verdict}; expected ${dollars(nanoDollars)}, ${seen}`
    }),
  ]
}

function permittedLine({ toolCallId, toolName, permission, ran, granted }: Permitted): string {
  const how = ran ? 'ran' : 'has not run; it was let through'
  const what = `${oneLine(toolName)} (${toolCallId}) ${how} by permission ${permission}`
  if (granted === null) return `${what}, whose words are erased`
  const { scope, until, reason, by } = granted
  return `${what}, given by ${oneLine(by ?? 'a person')} for this ${scope} until ${until}: ${oneLine(reason)}`
}

async function explain(ctx: Context, run: string, o: { turn: number; agent?: string }): Promise<number> {
  const id = await ctx.runId(run, 'read')
  const client = await ctx.client('read')
  const query = o.agent === undefined ? {} : { agent: o.agent }
  const param = { id, turn: String(o.turn) }
  const found = (await take(client.v1.runs[':id'].turns[':turn'].routing.$get({ param, query }))) as RoutingDecisions
  ctx.show(found, () => [
    ...found.decisions.flatMap(({ revision, decision }) => {
      const [first, ...rest] = told(decision)
      return [`@${revision} ${first}`, ...rest]
    }),
    ...found.permitted.map(permittedLine),
  ])
  return EXIT.done
}

export function modelsCommands(program: Command, kit: Kit): void {
  program
    .command('models')
    .description('the models: prices, capabilities, health, and the current choice among them')
    .action(kit.action((ctx) => list(ctx)))
  program
    .command('explain')
    .description(
      'why a turn had its model: the rule, the models that it allows, and why each was refused; and permissions of its calls',
    )
    .argument('<run>')
    .requiredOption('--turn <n>', 'of this turn', whole('--turn', 1))
    .option('--agent <id>', 'of this agent (default: the root agent)')
    .action(kit.action<{ turn: number; agent?: string }>((ctx, [run], options) => explain(ctx, run!, options)))
}
