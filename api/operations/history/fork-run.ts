import { claimKey } from '../../../domain/agent/runtime/claim-idempotency-key.ts'
import { agentSpecOf } from '../../../domain/agent/runtime/history/spec.ts'
import type { ForkOptions } from '../../../domain/agent/runtime/types.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { wellFormed } from '../../../domain/log/well-formed.ts'
import type { At } from '../../../domain/stream/point.ts'
import { KeyedMutex } from '../../../domain/stream/runtime/concurrency.ts'
import { mustHaveAccessRules } from '../approvals/approver-rules.ts'
import { mustMayUnconfine } from '../approvals/separation.ts'
import { keyedRunId, madeBefore, untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions, tracing } from '../runs/request-options.ts'
import { beginningOf, mustGovern } from '../runs/run-of-agent.ts'
import type { StartedRun } from '../runs/schemas.ts'
import type { ForkFiles, Services } from '../services.ts'

/** The request for a fork. */
export interface AskedFork {
  readonly at: At
  readonly workspace?: string | undefined
  readonly model?: string | undefined
  readonly maxTurns?: number | undefined
  readonly reuse?: true | undefined
  readonly budget?:
    | { readonly tokens?: number | null | undefined; readonly nanoDollars?: number | null | undefined }
    | undefined
}

/** Forks by request. The files of a fork are written before it is recorded, so one of equal requests at a time does that. */
const underway = new KeyedMutex()

type Changes = Omit<ForkOptions, 'workspace' | 'runId' | 'drive'> & { workspace?: string }

/** Forks a run. A repeated request with the same Idempotency-Key returns the existing fork, also after a restart. */
export async function forkRun(
  s: Services,
  source: string,
  asked: AskedFork,
  who: {
    readonly by?: string | undefined
    readonly drive: boolean
    /** False: leave the drive to any process. */
    readonly here?: boolean
    readonly options: RequestOptions
  },
): Promise<StartedRun> {
  mustWrite(s)
  await mustGovern(s, source, 'fork')
  const { by, drive, here = true, options } = who
  if (options.identity !== undefined) {
    const policy = (await agentSpecOf(s, source).catch(() => null))?.spec.policy
    mustMayUnconfine(s, policy, options)
    await mustHaveAccessRules(s, policy)
  }
  const { key } = options
  const said = wellFormed(JSON.parse(JSON.stringify(asked))) as Changes & { at: unknown }
  const { at: _, ...what } = said
  const make = async () => {
    const runId = key === undefined ? s.runtime.newRunId() : keyedRunId(s, `fork\n${source}`, key)
    const request = {
      by: actorOf('user', by, options),
      ...(key === undefined ? {} : { key, asked: said }),
      ...tracing(options),
    }
    if (key !== undefined && (await madeBefore(s, runId, key, said))) {
      s.files.forkFound(runId)
      return { runId, created: false }
    }
    if (drive && here) await s.runtime.forkDrivable(source, asked.model)
    if (key !== undefined) await claimKey(s, key, { fork: source, asked: said })
    const { workspace: folder, ...changes } = what
    const record = (files: ForkFiles | null) => {
      const options = { ...changes, runId, ...(files && { workspace: files }), ...(drive ? { drive } : {}) }
      return s.runtime.fork(source, asked.at, options, request)
    }
    const into = { runId, keyed: key !== undefined, ...(folder === undefined ? {} : { folder }) }
    await s.files.fork(source, asked.at, into, record)
    return { runId, created: true }
  }
  // The files are written before the fork is recorded. The mutex lets only one of several simultaneous requests do
  // both.
  const { runId, created } = await (key === undefined ? make() : underway.run(`${s.log.logId} ${source} ${key}`, make))
  if (drive && here) s.drivers.start(runId)
  const { driving } = s.drivers.state(runId)
  await untilShown(s)
  const head = await s.log.head(agentStream(runId))
  return { runId, agentId: runId, revision: head?.revision ?? 0, driving, created, ...(await beginningOf(s, runId)) }
}
