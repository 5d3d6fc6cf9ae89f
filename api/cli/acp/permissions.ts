import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
} from '@agentclientprotocol/sdk'
import { Refused } from '../../http/answers.ts'
import { approvalOf, decideCall } from '../ask/ask-person.ts'
import type { Context } from '../context.ts'
import { shownCall } from './tool-calls.ts'

const OPTIONS: readonly PermissionOption[] = [
  { optionId: 'approved', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'rejected', name: 'Reject', kind: 'reject_once' },
]

/**
 * Asks the editor's user about a call that awaits an approval, and records the decision for exactly the question shown.
 * False: the user cancelled the question, and nothing is recorded.
 */
export async function askPermission(
  ctx: Context,
  client: AgentContext,
  sessionId: string,
  toolCallId: string,
): Promise<boolean> {
  const { approval, preview, questionHash } = await approvalOf(ctx, toolCallId)
  const call = shownCall({ id: toolCallId, tool: approval.toolName, input: approval.arguments }, null)
  const content = [codeBlock(preview.text), ...preview.notes].map((text) => ({
    ...{ type: 'content' as const, content: { type: 'text' as const, text } },
  }))
  const asked: RequestPermissionRequest = {
    sessionId,
    toolCall: { ...call, status: 'pending', content },
    options: [...OPTIONS],
  }
  const { outcome } = await client.request(methods.client.session.requestPermission, asked)
  if (outcome.outcome === 'cancelled') return false
  const decision = outcome.optionId === 'approved' ? 'approved' : 'rejected'
  try {
    const { note } = await decideCall(ctx, toolCallId, decision, { questionHash })
    if (note !== undefined) ctx.note(note)
  } catch (error) {
    // Another person decided first. That settles the question too.
    if (!(error instanceof Refused && error.status === 409)) throw error
    ctx.note(`not recorded: ${error.message}`)
  }
  return true
}

/** A Markdown code block that backticks in the text cannot close. So no line of the text can imitate a note. */
export function codeBlock(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
