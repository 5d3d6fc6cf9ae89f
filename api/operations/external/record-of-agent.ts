import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { claimKey } from '../../../domain/agent/runtime/claim-idempotency-key.ts'
import type { AskedOfRun } from '../../../domain/external/runtime/stream-log.ts'
import { keyedCommand } from '../../../domain/log/ids.ts'
import { untilShown } from '../runs/idempotency.ts'
import type { Asked } from '../runs/request-options.ts'
import { ungoverned } from '../runs/run-of-agent.ts'
import type { Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { externalAgents } from './agents.ts'

/** Converts a command to a request to an external agent's run. Null: such runs do not accept this command. */
function asExternal(command: UserCommand, hide: (text: string) => string): AskedOfRun | null {
  const said = 'reason' in command && command.reason !== undefined ? { reason: hide(command.reason) } : {}
  if (command.kind === 'cancel') return { kind: 'cancel', ...said }
  if (command.kind !== 'decide_approval') return null
  const { toolCallId, decision, questionHash, files, lapsed, otherIds } = command
  return {
    kind: 'decide_permission',
    toolCallId,
    decision,
    ...(questionHash !== undefined && { questionHash }),
    ...(files !== undefined && { files }),
    ...(lapsed !== undefined && { lapsed }),
    ...(otherIds !== undefined && { otherIds }),
    ...said,
  }
}

/**
 * Records a person's command to an external agent's run, and applies it to the process if the run is in progress here.
 * Rejects with `RUN_UNGOVERNED` for commands that only keepup's own agents accept, and with `RUN_FINISHED`. `said`: the
 * original command of the person, which the Idempotency-Key identifies.
 */
export async function recordOfAgent(
  s: Services,
  runId: string,
  { agentId, command, actor, options: { key, expectedRevision } }: Asked,
  said: UserCommand,
): Promise<Recorded> {
  const agents = externalAgents(s)
  const { log, hide } = await agents.log()
  const asked = asExternal(command, hide)
  if (asked === null) throw ungoverned(agentId, NAMES[command.kind] ?? command.kind)
  if (key !== undefined) await claimKey(s, key, { agent: agentId, command: said })
  const commandId = key === undefined ? `${agentId}.${s.runtime.newRunId()}` : keyedCommand(s.log.logId, key, said)
  const expected = expectedRevision === undefined ? {} : { expected: expectedRevision }
  const { revision } = await log.ask(agentId, asked, { by: actor, commandId, ...expected })
  // A run in progress here now obeys the recorded command.
  agents.at(agentId)?.notice?.()
  await untilShown(s)
  return { runId, agentId, revision, driving: agents.at(agentId) !== undefined }
}

const NAMES: Readonly<Partial<Record<UserCommand['kind'], string>>> = { input: 'further input' }
