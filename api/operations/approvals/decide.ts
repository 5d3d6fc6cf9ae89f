import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { agentOfCall } from '../../../domain/agent/runtime/history/results.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { notFound } from '../problem.ts'
import { recordCommand } from '../runs/record-command.ts'
import { actorOf, type RequestOptions } from '../runs/request-options.ts'
import { runOfAgent } from '../runs/run-of-agent.ts'
import type { Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'

/**
 * Records an approver's decision about a call. Rejects as {@link recordCommand} does, and with 404 for a malformed call
 * id. The refusal of a second approval by one person is recorded.
 */
export async function recordApproval(
  s: Services,
  command: UserCommand & { readonly toolCallId: string },
  by: string | undefined,
  options: RequestOptions,
): Promise<Recorded> {
  const { toolCallId } = command
  const agentId = agentOfCall(toolCallId)
  if (agentId === null) throw notFound('tool call', toolCallId, 'an id looks like <agent>.t<turn>.c<index>')
  const asked = { agentId, command, actor: actorOf('approver', by, options), options, drive: 'wake' } as const
  return recordCommand(s, asked).catch(async (error: unknown) => {
    const { identity } = options
    if (identity !== undefined && error instanceof CommandRejected && error.code === 'APPROVAL_REPEATED') {
      const run = await runOfAgent(s, agentId)
      s.uses.refused({ principal: identity.principal, operation: command.kind, run, code: error.code })
    }
    throw error
  })
}
