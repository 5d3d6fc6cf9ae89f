import type { EndRestore } from '../../../domain/agent/decide/commands.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions } from '../runs/request-options.ts'
import { isUngoverned, mustBeRun } from '../runs/run-of-agent.ts'
import type { RestoredFiles, RestoreRequest, Services } from '../services.ts'

interface Asked extends Pick<RestoreRequest, 'to' | 'dryRun' | 'expected'> {
  readonly by?: string | undefined
  readonly reason?: string | undefined
}

/**
 * Restores files of a run for a person. Records the request before the first file changes and the outcome after the
 * last. If the process dies in between, a driver completes the restore. Records nothing for an external agent's run,
 * because only that agent's events belong in its stream. Rejects with READ_ONLY, NOT_FOUND, NO_WORKSPACE,
 * FILES_CHANGED, WORKSPACE_BUSY.
 */
export async function restoreFiles(
  s: Services,
  runId: string,
  { by, reason, ...asked }: Asked,
  options: RequestOptions,
): Promise<RestoredFiles> {
  mustWrite(s)
  await mustBeRun(s, runId)
  if (asked.dryRun || (await isUngoverned(s, runId))) return s.files.restore(runId, asked)
  const actor = actorOf('user', by, options)
  const step = 'step' in asked.to ? asked.to.step : undefined
  let restore: number | null = null
  const end = async (outcome: Omit<EndRestore, 'kind' | 'restore'>) => {
    if (restore === null) return
    await s.runtime.execute(runId, { kind: 'restore_ended', restore, ...outcome }, { by: actor })
  }
  const done = await s.files
    .restore(runId, {
      ...asked,
      async begins({ tree, replaces }) {
        const intent = omitUndefined({ kind: 'restore' as const, tree, replaces, step, reason })
        restore = (await s.runtime.execute(runId, intent, { by: actor })).revision
      },
    })
    .catch(async (error) => {
      const { code = 'RESTORE_FAILED', message } = error as Error & { code?: string }
      await end({ outcome: 'failed', error: { code: String(code), message } })
      throw error
    })
  await end({ outcome: 'restored' })
  return done
}
