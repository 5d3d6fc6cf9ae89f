import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { claimKey } from '../../../domain/agent/runtime/claim-idempotency-key.ts'
import { agentRevisionChanged } from '../../../domain/agent/runtime/refusals.ts'
import type { ErasureChoice, Request } from '../../../domain/agent/runtime/types.ts'
import { mustNotNeedSeveral } from '../approvals/approver-rules.ts'
import { withQuestion } from '../approvals/question-detail.ts'
import { approvalNote, mustBePerson, mustBeSeparate, withApproversNow } from '../approvals/separation.ts'
import { recordOfAgent } from '../external/record-of-agent.ts'
import { Problem } from '../problem.ts'
import type { Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { untilShown } from './idempotency.ts'
import type { Asked } from './request-options.ts'
import { type RequestOptions, tracing } from './request-options.ts'
import { isUngoverned, runOfAgent } from './run-of-agent.ts'

/** Refuses every change if this process only reads. */
export function mustWrite(s: Services): void {
  if (!s.readOnly) return
  throw new Problem('READ_ONLY', 'this process only reads the data folder; ask the process that owns it')
}

/**
 * Records a person's command and drives the agent as requested. Rejects with `NOT_FOUND` for an unknown agent, with
 * `REVISION_CHANGED` if the agent is no longer at the expected revision, and with the refusal by the agent's state. For
 * a drive in this process, also rejects with the reason why this process cannot drive.
 */
export async function recordCommand(s: Services, asked: Asked): Promise<Recorded> {
  mustWrite(s)
  const runId = await runOfAgent(s, asked.agentId)
  await mustBeSeparate(s, runId, asked.command.kind, asked.options)
  await mustBePerson(s, asked.command, asked.options)
  await mustNotNeedSeveral(s, runId, asked.command)
  const { key, expectedRevision } = asked.options
  const command = await withApproversNow(s, await withQuestion(s, asked.command), asked.options)
  if (asked.command.kind !== 'erase' && (await isUngoverned(s, asked.agentId)))
    return {
      ...(await recordOfAgent(s, runId, { ...asked, command }, asked.command)),
      ...(await approvalNote(s, asked.agentId, command)),
    }
  const request: Request = {
    by: asked.actor,
    asked: asked.command,
    ...(key === undefined ? {} : { key }),
    ...(expectedRevision === undefined ? {} : { expected: expectedRevision }),
    ...tracing(asked.options),
    toDrive: asked.drive === 'yes',
  }
  if (key !== undefined) await claimKey(s, key, { agent: asked.agentId, command: asked.command })
  const { revision, claimed } = await s.runtime.execute(asked.agentId, command, request)
  const wakes = claimed || DRIVING.has(asked.command.kind)
  const drive = asked.drive === 'yes' || (asked.drive === 'wake' && s.autoDrive && wakes)
  if (drive) s.drivers.start(runId)
  const { driving } = s.drivers.state(runId)
  await untilShown(s)
  return { runId, agentId: asked.agentId, revision, driving, ...(await approvalNote(s, asked.agentId, command)) }
}

/** The bodies that an erasure would erase. Rejects like the erasure. Records nothing. */
export async function erasableBodies(
  s: Services,
  agentId: string,
  which: ErasureChoice,
  { expectedRevision }: RequestOptions,
) {
  const { revision, bodies } = await s.runtime.erasable(agentId, which)
  if (expectedRevision !== undefined && expectedRevision !== revision) throw agentRevisionChanged(agentId, revision)
  const runId = await runOfAgent(s, agentId)
  const { driving } = s.drivers.state(runId)
  return { runId, agentId, revision, driving, bodies: [...bodies] }
}

/** Commands that need a driver, also for a run that was never driven. */
const DRIVING: ReadonlySet<UserCommand['kind']> = new Set<UserCommand['kind']>(['resume', 'step', 'cancel'])
