import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
} from '@agentclientprotocol/sdk'
import { approvalOf, decide } from '../ask/ask-person.ts'
import { Refused } from '../client.ts'
import type { Context } from '../context.ts'
import { shownCall } from './tool-calls.ts'

const OPTIONS: readonly PermissionOption[] = [
  { optionId: 'approved', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'rejected', name: 'Reject', kind: 'reject_once' },
]

/**
 * Asks the editor's person about a call that waits for an approval, and records the decision. It is bound to the question
 * that was shown. False: the question was cancelled, and nothing is recorded.
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
    await decide(ctx, toolCallId, decision, { questionHash })
  } catch (error) {
    // Another person was faster: that is an answer too.
    if (!(error instanceof Refused && error.status === 409)) throw error
    ctx.note(`not recorded: ${error.message}`)
  }
  return true
}

/** A text as a block of Markdown that its own backticks cannot end, so that no line of it can pass for a note. */
export function codeBlock(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
