import { takes } from '../../calls/plan-calls.ts'
import { callArguments } from '../../calls/requested-calls.ts'
import type { ToolSpec } from '../../calls/tools/tool-spec.ts'
import { effectId } from '../../log/ids.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import { outcomeRetry } from '../../stream/runtime/append-retry.ts'
import { outdatedApprovals } from '../rules/tool-change.ts'
import type { AgentMailbox } from './mailbox.ts'

const BY = { kind: 'system', id: 'runtime' } as const

/**
 * Voids open approvals of tools that have changed, because a person must not decide on an outdated tool (5.12.2).
 * Returns whether an approval was voided.
 */
export async function voidApprovals(
  ports: RuntimePorts,
  mailbox: AgentMailbox,
  offered: readonly ToolSpec[],
  folder: string | null,
): Promise<boolean> {
  await mailbox.refresh()
  const { state } = mailbox
  if (folder !== null && state?.spec.workspace?.path !== folder) return false
  if (state === null || outdatedApprovals(state, offered).length === 0) return false
  // The arguments are in the last answer of the model.
  await mailbox.loadMessages()
  const secrets = await ports.secrets(state.spec)
  await secrets.keep()
  let recorded = false
  for (const { call, now, changed } of outdatedApprovals(mailbox.state ?? state, secrets.json(offered))) {
    const { id: toolCallId, toolName, attempt } = call
    const { answer } = mailbox
    const block = answer?.body.content[answer.body.calls[call.index]?.block ?? -1]
    const args = block ? callArguments(block) : null
    const fact = {
      ...({ kind: 'tool_changed', toolCallId, toolName, attempt, durationMs: 0 } as const),
      tool: now,
      fits: args !== null && takes(now.parameters, args),
      reason: `its MCP server has changed ${changed.join(' and ')} of ${toolName}`,
    }
    const asking = { by: BY, commandId: `changed:${effectId(toolCallId, attempt)}` }
    const retry = outcomeRetry(ports, mailbox.agentId, 'the change of a tool')
    const done = await retry.repeat(() => mailbox.submit(fact, asking, { fact: true, retry }))
    recorded ||= done.recorded
  }
  return recorded
}
