import type { Command } from 'commander'
import { taskProgress, unfinishedDependencies } from '../../../../domain/agent/tasks/state.ts'
import { take } from '../../../http/answers.ts'
import type { PlanView } from '../../../operations/plan/schemas.ts'
import { EXIT } from '../../exit.ts'
import { oneLine, safe } from '../../output/text.ts'
import type { Kit } from '../kit.ts'

interface Options {
  readonly agent?: string
  readonly all?: boolean
}

const SIGNS = { pending: ' ', in_progress: '>', completed: 'x', cancelled: '-' } as const

/** The tasks of an agent, one per line. */
export function taskLines(tasks: PlanView['tasks']): string[] {
  if (tasks.length === 0) return []
  const lines = tasks.map((task) => {
    const waits = task.status === 'pending' ? unfinishedDependencies(task, tasks) : []
    return `  [${SIGNS[task.status]}] ${task.id}: ${oneLine(task.title)}${waits.length > 0 ? ` (after ${waits.join(', ')})` : ''}`
  })
  return [`tasks: ${taskProgress(tasks)}`, ...lines]
}

function planLines({ tasks, plans }: PlanView, all: boolean): string[] {
  const latest = new Map(plans.map((one) => [one.agentId, one]))
  const shown = all ? plans : [...latest.values()]
  const texts = shown.flatMap(({ agentId, version, title, content, createdAt, file }) => [
    `plan of ${agentId}, version ${version} (${createdAt}): ${oneLine(title ?? 'erased')}`,
    ...(file === null ? [] : [`  ${file}`]),
    ...(content === null ? [] : content.trimEnd().split('\n')).map((line) => `    ${safe(line)}`),
  ])
  const lines = [...taskLines(tasks), ...texts]
  return lines.length > 0 ? lines : ['no tasks and no plan so far']
}

export function planCommand(program: Command, kit: Kit): void {
  program
    .command('plan')
    .description('the tasks that an agent keeps, and its plans; they lie as files in the data folder too')
    .argument('<run>')
    .option('--agent <id>', 'the tasks of this agent (default: the root agent)')
    .option('--all', 'every version of the plans (default: the latest of each agent)')
    .action(
      kit.action<Options>(async (ctx, [run], { agent, all = false }) => {
        const id = await ctx.runId(run!, 'read')
        const client = await ctx.client('read')
        const query = agent === undefined ? {} : { agent }
        const view = (await take(client.v1.runs[':id'].plan.$get({ param: { id }, query }))) as PlanView
        ctx.show(view, () => planLines(view, all))
        return EXIT.done
      }),
    )
}
