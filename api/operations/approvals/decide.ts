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
    throw (await decidedBefore(s, command, error)) ?? error
  })
}

/** These refusals also meet a call that was decided before. That is then the better reason. */
const LATE: ReadonlySet<string> = new Set(['RUN_FINISHED', 'CALL_NOT_OPEN', 'APPROVAL_NOT_PENDING'])

/** The refusal of a second decision about a call, with who decided it. Null: it was not decided before. */
async function decidedBefore(
  s: Pick<Services, 'read'>,
  { kind, toolCallId }: { readonly kind: UserCommand['kind']; readonly toolCallId: string },
  error: unknown,
): Promise<CommandRejected | null> {
  if (kind !== 'decide_approval' || !(error instanceof CommandRejected && LATE.has(error.code))) return null
  const { value } = await s.read.approval(toolCallId)
  if (value?.state !== 'approved' && value?.state !== 'rejected') return null
  const by = value.by === null ? '' : ` by ${value.by.replace(/^(?:approver|user):/, '')}`
  return new CommandRejected('APPROVAL_NOT_PENDING', `${toolCallId} was already ${value.state}${by}`)
}
