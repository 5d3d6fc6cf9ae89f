import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { AgentKind } from '../../../operations/external/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { oneLine } from '../../output/text.ts'
import { alone, type Kit } from '../kit.ts'

const LOGIN: Readonly<Record<AgentKind['login'], string>> = { found: 'found', missing: 'none found', unknown: '?' }

async function list(ctx: Context): Promise<number> {
  const { agents } = await take((await ctx.client('write')).v1.agents.$get({}))
  ctx.list(agents, [
    { title: 'KIND', of: (a) => a.kind },
    { title: 'INSTALLED', of: (a) => (a.installed ? 'yes' : 'no') },
    { title: 'VERSION', of: (a) => a.version },
    { title: 'LOGIN', of: (a) => LOGIN[a.login] },
    { title: 'GOVERNED', of: (a) => (a.ungoverned ? 'no' : 'yes') },
  ])
  return EXIT.done
}

/** Shows one kind of agent, or all. The exit code is 1 if the named kind is not usable. */
async function check(ctx: Context, kind: string | undefined): Promise<number> {
  const { v1 } = await ctx.client('write')
  if (kind === undefined) {
    const { agents } = await take(v1.agents.$get({}))
    ctx.show(agents, () => agents.flatMap((agent) => [...lines(agent), '']).slice(0, -1))
    return EXIT.done
  }
  const agent = await take(v1.agents[':kind'].$get({ param: { kind } }))
  ctx.show(agent, () => lines(agent))
  return agent.installed && agent.login !== 'missing' ? EXIT.done : EXIT.failed
}

function lines(agent: AgentKind): string[] {
  const { kind, installed, version, login, loginAt, problem, capabilities } = agent
  const rows: [string, string | null][] = [
    ['kind', kind],
    ['installed', installed ? 'yes' : 'no'],
    ['version', version],
    ['login', login === 'found' ? `found: ${loginAt}` : LOGIN[login]],
    ['problem', problem],
    ['governed', agent.ungoverned ? 'no: keepup records it, and sees nothing of what it does beforehand' : 'yes'],
  ]
  const told = rows.filter((row): row is [string, string] => row[1] !== null)
  return [
    ...told.map(([name, value]) => `${name.padEnd(10)} ${oneLine(value)}`),
    'capabilities:',
    ...capabilities.map((id) => `  ${id}`),
  ]
}

/** `agents`: the kinds of agents that runs can use. */
export function agentsCommand(program: Command, kit: Kit): void {
  const agents = program.command('agents').description('the kinds of agents that "run --agent" can start')
  alone(agents.command('list', { isDefault: true }))
    .description('which are installed here, in which version, and whether a login was found')
    .action(kit.action((ctx) => list(ctx)))
  agents
    .command('check')
    .description('whether a kind can be used, with its capabilities; exit code 1 where it cannot')
    .argument('[kind]', 'absent: all kinds')
    .action(kit.action((ctx, [kind]) => check(ctx, kind)))
}
