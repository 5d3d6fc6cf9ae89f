import type { Client } from '../cli/client.ts'
import type { Context } from '../cli/context.ts'
import { estimateText, used } from '../cli/output/units.ts'
import { take } from '../http/answers.ts'

const checkpointsShown = 6

/** The story of a finished run from the log: its files, checkpoints, bill, a replay to the middle, and the proof. */
export async function tellStory(ctx: Context, client: Client, runId: string): Promise<boolean> {
  const heading = (text: string) => ctx.line(`\n${ctx.paint('bold', text)}`)
  const { run } = await take(client.v1.runs[':id'].$get({ param: { id: runId } }))
  const last = run.step

  heading('What it changed')
  const diff = await take(client.v1.runs[':id'].diff.$get({ param: { id: runId }, query: { a: '1', b: String(last) } }))
  for (const line of (diff.files?.patch ?? '').split('\n').filter((one) => /^[+-]/.test(one))) ctx.note(`  ${line}`)

  heading('Checkpoints: one after every tool result and every turn')
  const query = { limit: '500' }
  const { checkpoints } = await take(client.v1.agents[':id'].checkpoints.$get({ param: { id: runId }, query }))
  for (const point of checkpoints.slice(-checkpointsShown)) {
    ctx.note(`  step ${point.step}, turn ${point.turn}, ${point.timestamp}`)
  }
  ctx.note(`  (the last ${Math.min(checkpointsShown, checkpoints.length)} of ${checkpoints.length})`)

  heading('The bill')
  const { modelCalls, toolCalls } = run.total
  ctx.note(`  ${modelCalls} model calls, ${toolCalls} tool calls`)
  ctx.note(`  ${used(run.total)}${estimateText(run.total.inDoubt)}`)

  heading('Replayed to the middle')
  const middle = Math.max(1, Math.floor(last / 2))
  const point = { param: { id: runId }, query: { step: String(middle) } }
  const at = await take(client.v1.runs[':id'].state.$get(point))
  if ('backend' in at) throw new Error('the demo runs an agent of keepup')
  const { messages, sopPhase } = at.state
  ctx.note(`  step ${middle}: turn ${at.turn}, phase "${sopPhase}", ${messages.length} messages, nothing performed`)

  heading('Verified')
  const proof = await take(client.v1.runs[':id'].verify.$get({ query: {}, param: { id: runId } }))
  for (const agent of proof.agents) {
    const verdict = agent.ok ? ctx.paint('green', 'holds') : ctx.paint('red', 'BROKEN')
    ctx.line(`  ${verdict}: ${agent.events} events chained, ${agent.digests} states folded again and equal`)
  }
  return proof.ok
}
