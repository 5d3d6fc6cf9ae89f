import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import type { Workspace } from '../../../domain/ports/index.ts'
import { seededRandom } from '../harness.ts'
import { NO_SECRETS } from '../secrets/no-secrets.ts'
import { type Given, given } from '../story.ts'
import { RecordingLog } from './recording.ts'

export const ANN: Actor = { kind: 'user', id: 'ann', claimed: true }
const { signal } = new AbortController()

/** A recorded run with helpers for other drivers, people and forks. */
export async function tale(what: Given, workspace: Workspace | null = null) {
  const log = new RecordingLog()
  const environment = async () => ({
    ...{ workspace, sandbox: null, secrets: NO_SECRETS },
    reap: async () => undefined,
    close: async () => undefined,
  })
  const run = await given({ ...what, ports: { log, blobs: log.blobs, environment, ...what.ports } })
  let drivers = 0
  return {
    ...run,
    log,
    /** Another process drives until the run ends or waits. */
    takeOver: (runId = run.runId) =>
      run.elsewhere({ random: seededRandom(`driver ${++drivers}`) }).drive(runId, { signal }),
    tell: (command: UserCommand, more: object = {}, runId = run.runId) =>
      run.runtime.execute(runId, command, { by: ANN, ...more }),
    /** A fork, driven to its end. */
    fork: async (source: string, at: Parameters<typeof run.runtime.fork>[1], options: object = {}, key?: string) =>
      (await run.runtime.fork(source, at, options, { by: ANN, ...(key === undefined ? {} : { key }) })).runId,
    driveOther: (runId: string) => run.runtime.drive(runId, { signal }),
  }
}
