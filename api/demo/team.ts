import type { Client } from '../cli/client.ts'
import type { Context } from '../cli/context.ts'
import { FROM_BIRTH, resuming } from '../cli/follow/drive.ts'
import { follow } from '../cli/follow/follow.ts'
import { treeLines } from '../cli/output/tree-text.ts'
import { dollars } from '../cli/output/units.ts'
import { take } from '../http/answers.ts'
import type { EventView } from '../operations/events/schemas.ts'
import { teamScript } from './project.ts'
import { startDemoRun } from './start.ts'

/** An architect with a team: two agents side by side, and a third one that fails and is tried again. */
export async function playTeam(ctx: Context, client: Client, workspace: string): Promise<boolean> {
  const note = (text: string) => ctx.note(`  ${text}`)
  ctx.line(`\n${ctx.paint('bold', 'An architect and a team')}`)
  note('A scripted model plays them all. Each agent has a log of its own, and at most the rights of the architect.')
  const runId = await startDemoRun(ctx, {
    ...{ task: 'Refunds need a test, and the rounding a word.', role: 'architect', workspace },
    ...{ model: `scripted:${teamScript()}`, policy: { mode: 'batch' } },
  })
  const watch = { runId, ...FROM_BIRTH, onEvent: (event: EventView) => tell(note, runId, event), onText: () => {} }
  const { end } = await follow(await ctx.backend('write'), watch, resuming(ctx, runId))
  const param = { id: runId }
  const tree = await take(client.v1.runs[':id'].tree.$get({ param }))
  for (const line of treeLines(tree, null)) note(line)
  const { run } = await take(client.v1.runs[':id'].$get({ param }))
  note(`The bill of all: ${run.total.modelCalls} model calls, ${dollars(run.total.nanoDollars)}`)
  const { ok, agents } = await take(client.v1.runs[':id'].verify.$get({ query: {}, param }))
  const verdict = ok ? ctx.paint('green', 'holds') : ctx.paint('red', 'BROKEN')
  ctx.line(`  ${verdict}: ${agents.length} agents, each with its own chain; parents know how their children ended`)
  note(ctx.command('tree', runId.slice(0, 12)))
  return end === 'done' && ok
}

/** The delegations of the architect, and what became of them. */
function tell(note: (text: string) => void, runId: string, { agentId, type, payload }: EventView): void {
  if (agentId !== runId) return
  if (type === 'child_delegated') note(`the architect asks a ${payload?.role}: ${payload?.task}`)
  if (type !== 'tool_call_end' || payload?.toolName !== 'delegate_to_agent') return
  const { error } = payload
  const { summary } = (payload.result ?? {}) as { summary?: string }
  note(error === undefined ? `the answer: ${summary}` : `failed: ${error.message}`)
}
