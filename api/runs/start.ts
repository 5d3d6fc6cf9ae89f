import { createHash } from 'node:crypto'
import { CommandRejected } from '../../domain/agent/errors.ts'
import { agentStream, base32, keyedCommand } from '../../domain/log/ids.ts'
import { type StartHeaders, tracing } from '../http/new-app.ts'
import type { StartRun } from '../http/schemas/start.ts'
import type { Services } from '../services.ts'
import { actorOf, commandId, keyReused, mustWrite } from './commands.ts'

export interface StartedRun {
  readonly runId: string
  readonly revision: number
  readonly driving: boolean
  /** False: the same request had started it before. */
  readonly created: boolean
}

/** A run id that the same key gives again, also after a restart, so that a repeated start finds the run it made. */
const keyedRunId = (logId: string, key: string): string =>
  base32(createHash('sha256').update(`run\n${logId}\n${key}`).digest().subarray(0, 14))

/** Starts a run, or finds the one that the same Idempotency-Key started. Rejects with what `prepare` refuses. */
export async function startRun(s: Services, asked: StartRun, headers: StartHeaders): Promise<StartedRun> {
  mustWrite(s)
  const key = headers['idempotency-key']
  const runId = key === undefined ? s.runtime.newRunId() : keyedRunId(s.log.logId, key)
  const { drive, by, ...what } = asked
  const request = {
    by: actorOf('user', by),
    ...(key === undefined ? {} : { key: commandId(key, JSON.parse(JSON.stringify(what))) }),
    ...tracing(headers),
  }
  const before = key === undefined ? null : await s.log.head(agentStream(runId))
  let revision = before?.revision ?? -1
  if (before) {
    for await (const page of s.log.read(agentStream(runId), { limit: 1, bodies: false })) {
      if (page[0] && page[0].header.commandId !== keyedCommand(request.key!)) throw keyReused()
    }
  } else {
    const spec = await s.starts.prepare(asked)
    revision = (await s.runtime.execute(runId, { kind: 'start', spec, task: asked.task ?? null }, request)).revision
  }
  if (asked.approve && asked.approve.length > 0) {
    const standing = { kind: 'standing_approval', tools: asked.approve } as const
    const approver = {
      ...request,
      by: actorOf('approver', by),
      ...(request.key ? { key: `${request.key}.approve` } : {}),
    }
    try {
      // Again on a repeated start, because the first one may have died between the two; the key makes it one.
      revision = (await s.runtime.execute(runId, standing, approver)).revision
    } catch (error) {
      if (!before || !(error instanceof CommandRejected)) throw error
    }
  }
  if (drive) s.drivers.start(runId)
  return { runId, revision, driving: s.drivers.state(runId).driving, created: before === null }
}
