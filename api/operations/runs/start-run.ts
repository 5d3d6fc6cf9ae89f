import { claimKey } from '../../../domain/agent/runtime/claim-idempotency-key.ts'
import { wellFormed } from '../../../domain/log/well-formed.ts'
import { withAccessRules } from '../approvals/approver-rules.ts'
import { mustMayUnconfine, mustNotApproveOwn } from '../approvals/separation.ts'
import { startAgent } from '../external/start-agent.ts'
import type { Services } from '../services.ts'
import { keyedRunId, madeBefore, untilShown } from './idempotency.ts'
import { OWN_AGENT } from './own-agent.ts'
import { mustWrite } from './record-command.ts'
import { actorOf, type RequestOptions, tracing } from './request-options.ts'
import { beginningOf } from './run-of-agent.ts'
import type { StartedRun } from './schemas.ts'
import type { StartRun } from './start-schemas.ts'

/**
 * Starts a run, or returns the run that the same Idempotency-Key started. Rejects with the refusals of `prepare`.
 * `here` false: another process drives the run. `network`: the request came over the network (see startAgent).
 */
export async function startRun(
  s: Services,
  request: StartRun,
  options: RequestOptions,
  here = true,
  network = false,
): Promise<StartedRun> {
  mustWrite(s)
  const asked = wellFormed(request)
  mustMayUnconfine(s, asked.policy, options)
  await mustNotApproveOwn(s, asked, options)
  const { agent } = asked
  if (agent !== undefined && agent !== OWN_AGENT) return startAgent(s, { ...asked, agent }, options, network)
  const { key } = options
  const runId = key === undefined ? s.runtime.newRunId() : keyedRunId(s, 'run', key)
  // Naming the default agent makes no difference to the request.
  const { drive, by, agent: _, ...what } = asked
  const asking = {
    by: actorOf('user', by, options),
    ...(key === undefined ? {} : { key, asked: what }),
    ...tracing(options),
  }
  const before = key !== undefined && (await madeBefore(s, runId, key, what))
  let created = false
  let revision = -1
  if (before) revision = (await s.log.head(`agent-${runId}`))?.revision ?? -1
  else {
    const prepared = await s.starts.prepare(asked)
    const spec = { ...prepared, policy: await withAccessRules(s, prepared.policy) }
    const approve = asked.approve?.length ? { approve: asked.approve } : {}
    if (key !== undefined) await claimKey(s, key, { start: what })
    const start = { kind: 'start', spec, task: asked.task ?? null, ...(drive ? { drive } : {}), ...approve } as const
    // Of simultaneous requests one starts the run. The others find their command id in the run's state.
    ;({ recorded: created, revision } = await s.runtime.execute(runId, start, asking))
  }
  if (drive && here) s.drivers.start(runId)
  const { driving } = s.drivers.state(runId)
  await untilShown(s)
  return { runId, agentId: runId, revision, driving, created, ...(await beginningOf(s, runId)) }
}
