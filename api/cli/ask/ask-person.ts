import type { z } from 'zod'
import type { DriveEnd } from '../../../domain/tree/runtime/drive.ts'
import { asOne, Refused, take } from '../../http/answers.ts'
import { approvalCount } from '../../operations/approvals/approval-count.ts'
import type { Approval, ApprovalDetail, ApprovalList } from '../../operations/approvals/schemas.ts'
import type { Recorded } from '../../operations/schemas.ts'
import { unmistakable } from '../../operations/text/visible-text.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { type PageParameters, pages } from '../follow/pages.ts'
import { oneLine, safe } from '../output/text.ts'
import { type Choice, choose } from './choose.ts'
import { asking } from './interruptible.ts'
import { prompt } from './prompt.ts'
import { byWhom } from './question-lines.ts'

type Waiting = Extract<DriveEnd, { end: 'waiting' }>

/** Asks the person at the terminal the questions of a waiting run. True: all are answered, so the run can continue. */
export const askFor = (ctx: Context, runId: string, waiting: Waiting): Promise<boolean> =>
  asking(async (signal) => {
    if (waiting.for === 'input') return askInput(ctx, runId, signal)
    if (waiting.for === 'approval') return all(waiting.toolCallIds, (id) => askApproval(ctx, id, signal))
    if (waiting.for === 'doubt') return all(waiting.toolCallIds, (id) => askDoubt(ctx, id, signal))
    return false
  })

async function all(ids: readonly string[], ask: (id: string) => Promise<boolean>): Promise<boolean> {
  for (const id of ids) if (!(await ask(id))) return false
  return ids.length > 0
}

/** An approval with its preview. */
export async function approvalOf(ctx: Context, toolCallId: string) {
  const client = await ctx.client('write')
  return take(client.v1.approvals[':toolCallId'].$get({ param: { toolCallId } }))
}

/** All pending approvals, read page by page. */
export async function pendingApprovals(client: Client, limit = 500) {
  const read = (query: PageParameters): Promise<z.infer<typeof ApprovalList>> =>
    take(client.v1.approvals.$get({ query }))
  return (await Array.fromAsync(pages(read, limit))).flatMap(({ approvals }) => approvals)
}

/** Who asks for the call, the reason, and the expiry. For a decided call: who decided. */
export function asks(approval: Omit<z.infer<typeof Approval>, 'arguments' | 'secrets'>): string {
  const who = byWhom(approval)
  const from = who === '' ? '' : ` for ${who}`
  if (approval.state !== 'pending') {
    const by = approval.by === null ? '' : ` by ${approval.by.replace(/^(?:approver|user):/, '')}`
    return oneLine(`${approval.toolName} asked${from}: ${approval.reason}; ${approval.state}${by}`)
  }
  const several = approval.needed > 1 ? `; ${oneLine(approvalCount(approval))}` : ''
  // A question of another agent has no expiry.
  const expiry = approval.expiresAt === '' ? '' : ` (until ${approval.expiresAt}; then it counts as refused)`
  return `${approval.toolName} asks${from}: ${approval.reason}${several}${expiry}`
}

type Shown = z.infer<typeof ApprovalDetail>['preview']

/** The lines of a preview. Content is indented, so no line of it can imitate a note. */
export function previewLines(preview: Shown, paint: (line: string) => string = (line) => line): string[] {
  const content = safe(preview.text)
    .split('\n')
    .map((line) => `  ${paint(line)}`)
  return [...content, ...preview.notes.map((note) => `note: ${safe(note)}`)]
}

/**
 * Shows an approval on stderr. Returns the hash of the question, which the decision must name. A decided approval has no
 * preview: the files are other ones now.
 */
export async function showApproval(ctx: Context, toolCallId: string): Promise<string> {
  const { approval, preview, questionHash } = await approvalOf(ctx, toolCallId)
  ctx.note(`\n${asks(approval)}`)
  if (approval.state !== 'pending') return questionHash
  const paint = (line: string) => {
    const colour = preview.kind !== 'diff' ? null : line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : null
    return colour ? ctx.paint(colour, line) : line
  }
  for (const line of previewLines(preview, paint)) ctx.line(line)
  return questionHash
}

/** Shows a call with an unknown outcome on stderr. Returns the hash of the question. */
export async function showDoubt(ctx: Context, toolCallId: string): Promise<string> {
  const client = await ctx.client('write')
  const { doubt, questionHash } = await take(client.v1.doubts[':toolCallId'].$get({ param: { toolCallId } }))
  if (doubt !== null) {
    const who = byWhom(doubt)
    ctx.note(`\n${oneLine(doubt.toolName ?? 'a call')}${who === '' ? '' : ` of ${who}`}: ${oneLine(doubt.text)}`)
    for (const line of safe(unmistakable(JSON.stringify(doubt.arguments, null, 2))).split('\n')) ctx.line(`  ${line}`)
  }
  return questionHash
}

export async function decideCall(
  ctx: Context,
  toolCallId: string,
  decision: 'approved' | 'rejected',
  more: { questionHash: string; reason?: string },
) {
  const client = await ctx.client('write')
  const json = { decision, by: ctx.by, ...more }
  return take(client.v1.approvals[':toolCallId'].$post({ param: { toolCallId }, header: asOne(), json }))
}

/** Whether the question is answered. Treats a conflict (409) as success: another person answered first. */
async function unlessDecided(ctx: Context, act: () => Promise<Recorded>): Promise<boolean> {
  try {
    const { missing, note } = await act()
    if (note !== undefined) ctx.note(note)
    return missing === undefined
  } catch (error) {
    if (!(error instanceof Refused && error.status === 409)) throw error
    ctx.note(`not recorded: ${error.message}`)
    return error.code !== 'APPROVAL_REPEATED'
  }
}

async function askApproval(ctx: Context, toolCallId: string, signal: AbortSignal): Promise<boolean> {
  const questionHash = await showApproval(ctx, toolCallId)
  const choices: Choice<'approved' | 'rejected'>[] = [
    { keys: ['y', 'yes', 'approve'], does: 'approve', value: 'approved' },
    { keys: ['n', 'no', 'reject'], does: 'reject', value: 'rejected' },
  ]
  const decision = await choose(ctx, { question: 'Let it happen?', choices, open: 'leave it open' }, signal)
  if (decision === null) return false
  let reason: string | undefined
  if (decision === 'rejected') {
    const why = { message: 'Why? (told to the agent)', placeholder: 'may stay empty' }
    const said = await prompt(ctx, why, signal)
    if (said === null) return false
    reason = said.trim() || undefined
  }
  return unlessDecided(ctx, () =>
    decideCall(ctx, toolCallId, decision, { questionHash, ...(reason === undefined ? {} : { reason }) }),
  )
}

async function askDoubt(ctx: Context, toolCallId: string, signal: AbortSignal): Promise<boolean> {
  const choices: Choice<'happened' | 'run' | 'abandon'>[] = [
    { keys: ['h', 'happened'], does: 'it happened', value: 'happened' },
    { keys: ['r', 'run'], does: 'it did not, run it', value: 'run' },
    { keys: ['a', 'abandon'], does: 'abandon it, the agent is told', value: 'abandon' },
  ]
  const questionHash = await showDoubt(ctx, toolCallId)
  const question = `What became of ${safe(toolCallId)}?`
  const decision = await choose(ctx, { question, choices, open: 'leave it open' }, signal)
  if (decision === null) return false
  return unlessDecided(ctx, async () => {
    const client = await ctx.client('write')
    const json = { decision, questionHash, by: ctx.by }
    return take(client.v1.doubts[':toolCallId'].$post({ param: { toolCallId }, header: asOne(), json }))
  })
}

async function askInput(ctx: Context, runId: string, signal: AbortSignal): Promise<boolean> {
  const client = await ctx.client('write')
  const { asks } = await take(client.v1.runs[':id'].$get({ param: { id: runId } }))
  const questions = asks.filter((ask) => ask.for === 'input')
  const answered = questions.length === 0 ? [{ agentId: runId, text: '', agentPath: [], toolCallId: null }] : questions
  for (const { agentId, text, agentPath, toolCallId } of answered) {
    const who = byWhom({ agentPath })
    // The line of the event shows only the start of the question.
    if (text !== '') ctx.note(`\n${who === '' ? '' : `${who}: `}${text}`)
    const validate = (typed: string | undefined) => (typed?.trim() ? undefined : 'say something')
    const said = await prompt(ctx, { message: 'Your answer', validate }, signal)
    if (said === null) return false
    const json = {
      ...{ text: said, by: ctx.by },
      ...(agentId === runId ? {} : { agent: agentId }),
      ...(toolCallId === null ? {} : { toolCallId }),
    }
    const answer = () => take(client.v1.runs[':id'].input.$post({ param: { id: runId }, header: asOne(), json }))
    await unlessDecided(ctx, answer)
  }
  return true
}
