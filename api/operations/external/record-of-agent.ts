import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { claimKey } from '../../../domain/agent/runtime/claim-key.ts'
import type { AskedOfRun } from '../../../domain/external/runtime/stream-log.ts'
import { keyedCommand } from '../../../domain/log/ids.ts'
import { shown } from '../runs/idempotency.ts'
import type { Asked } from '../runs/request-options.ts'
import { ungoverned } from '../runs/run-of-agent.ts'
import type { Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { agentsOf } from './agents.ts'

/** The request to a run of another agent; null: it takes no such request. */
function asExternal(command: UserCommand, hide: (text: string) => string): AskedOfRun | null {
  const said = 'reason' in command && command.reason !== undefined ? { reason: hide(command.reason) } : {}
  if (command.kind === 'cancel') return { kind: 'cancel', ...said }
  if (command.kind !== 'decide_approval') return null
  const { toolCallId, decision, questionHash, files } = command
  return {
    kind: 'decide_permission',
    toolCallId,
    decision,
    ...(questionHash !== undefined && { questionHash }),
    ...(files !== undefined && { files }),
    ...said,
  }
}

/**
 * Records what a person asks of a run of another agent, which ends its process where that is at work here. Rejects with
 * `RUN_UNGOVERNED` for what only keepup's own agents can be asked, and with `RUN_FINISHED`. `said`: the command as the person
 * gave it, for which an Idempotency-Key stands.
 */
export async function recordOfAgent(
  s: Services,
  runId: string,
  { agentId, command, actor, options: { key, expectedRevision } }: Asked,
  said: UserCommand,
): Promise<Recorded> {
  const agents = agentsOf(s)
  const { log, hide } = await agents.log()
  const asked = asExternal(command, hide)
  if (asked === null) throw ungoverned(agentId, NAMES[command.kind] ?? command.kind)
  if (key !== undefined) await claimKey(s, key, { agent: agentId, command: said })
  const commandId = key === undefined ? `${agentId}.${s.runtime.newRunId()}` : keyedCommand(s.log.logId, key, said)
  const expected = expectedRevision === undefined ? {} : { expected: expectedRevision }
  const { revision } = await log.ask(agentId, asked, { by: actor, commandId, ...expected })
  // Where it is at work here it does now what the log says.
  agents.at(agentId)?.notice?.()
  await shown(s)
  return { runId, agentId, revision, driving: agents.at(agentId) !== undefined }
}

const NAMES: Readonly<Partial<Record<UserCommand['kind'], string>>> = { input: 'further input' }
