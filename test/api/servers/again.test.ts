import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lockWorkspace } from '../../../adapters/workspace/lock.ts'
import type { Services } from '../../../api/operations/services.ts'
import { Drivers } from '../../../api/process/drives/drivers.ts'
import { retryFaultedRuns } from '../../../api/process/drives/retry-faulted-runs.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { LiveHub } from '../../../api/process/live/hub.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { DriveEnd } from '../../../domain/tree/runtime/drive.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { deployment } from './deployment.ts'

/** A process on servers where `due` is due, whose drives are played. */
function played(due: readonly string[], drive: (id: string, waits: boolean) => Promise<DriveEnd>) {
  let looks = 0
  const drivers = new Drivers({ drive: (id, { waits = true }) => drive(id, waits) }, new LiveHub(), () => {})
  const read = {
    caughtUp: async () => void looks++,
    due: async () => due.map((agentId) => ({ agentId, runId: agentId, wakeAt: 0, reason: 'start' })),
    nextDue: async () => null,
  }
  // Time goes by a hundred times as fast.
  const clock = new SystemClock()
  let waits = 0
  const sleep = (ms: number, signal?: AbortSignal) => {
    waits++
    return clock.sleep(ms / 100, signal)
  }
  const fast = { now: () => clock.now() * 100, sleep }
  const services = { drivers, read, random: systemRandom, clock: fast } as unknown as Services
  const end = new AbortController()
  const notes: string[] = []
  const onFault = (error: unknown, where: string) => notes.push(`${where}: ${String(error)}`)
  const done = retryFaultedRuns({ services, leaseMs: 400, onFault, onNote: (text) => notes.push(text) }, end.signal)
  const stop = async () => {
    end.abort(new Error('the test is over'))
    await done
    await drivers.stop()
  }
  return { drivers, notes, stop, looks: () => looks, waits: () => waits }
}

it('what could not go on here is told once and tried again; a run that this process was not asked for is left to others', async () => {
  const tries: (readonly [string, boolean])[] = []
  const process = played(['a', 'b'], async (id, waits) => {
    tries.push([id, waits])
    if (tries.length < 4) throw new LogError('LOG_UNAVAILABLE', 'no answer')
    return { end: 'done' }
  })
  process.drivers.start('a')
  await expect.poll(() => tries.length).toBeGreaterThanOrEqual(4)
  expect(tries.slice(0, 4)).toEqual([['a', true], ...Array(3).fill(['a', false])])
  expect(process.notes).toEqual(['a: no answer; it is tried again'])
  await process.stop()
})

it('what a worker has taken over meanwhile is looked at without a word', async () => {
  let tries = 0
  const process = played(['a'], async (_, waits) => {
    tries++
    if (waits) throw new LogError('LOG_UNAVAILABLE', 'no answer')
    throw new CommandRejected('RUN_DRIVEN', 'a is being driven by another process')
  })
  process.drivers.start('a')
  await expect.poll(() => tries).toBeGreaterThan(3)
  expect(process.notes).toEqual(['a: no answer; it is tried again'])
  await process.stop()
})

it('the tables are not asked while all goes well', async () => {
  const process = played(['a', 'b'], async () => ({ end: 'done' }))
  process.drivers.start('a')
  await process.drivers.ended('a')
  const before = process.waits()
  await expect.poll(process.waits).toBeGreaterThan(before + 2)
  expect(process.looks()).toBe(0)
  await process.stop()
})

describeWithSharedPostgres('serve on servers', (server) => {
  const { folder, eventstore } = deployment()

  it('drives a run that it has taken, also where its folder was that of another at first', async () => {
    const env = {
      KEEPUP_EVENTSTORE: eventstore.url,
      KEEPUP_POSTGRES: server().url,
      KEEPUP_NAMESPACE: 'again',
      KEEPUP_LEASE_MS: '2000',
    }
    const workspace = folder.workspace()
    const serve = folder.start(['serve', '--port', '0'], { env })
    await serve.said('press Ctrl-C')
    const held = lockWorkspace(workspace, folder.data, 'other')
    const [, file = '', url] = /\$\(cat (\S+)\)" (\S+)$/m.exec(serve.err()) ?? []
    const body = { task: 'finish', model: folder.env.KEEPUP_MODEL, workspace, tools: ['list_dir'] }
    const headers = {
      authorization: `Bearer ${readFileSync(file, 'utf8').trim()}`,
      'content-type': 'application/json',
    }
    const started = await fetch(`${url}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const { runId, driving } = (await started.json()) as { runId: string; driving: boolean }
    expect([started.status, driving]).toEqual([201, true])
    await serve.said('it is tried again')
    held.release()
    const status = async () => {
      const shown = await fetch(`${url}/${runId}`, { headers })
      return ((await shown.json()) as { run: { status: string } }).run.status
    }
    await expect.poll(status, { timeout: 15_000 }).toBe('completed')
    serve.process.kill('SIGTERM')
    const { code, err } = await serve.ended
    const ofRun = err.split('\n').filter((line) => line.includes(runId))
    expect([code, ofRun]).toEqual([0, [expect.stringMatching(/^\d{4}-\S+Z \w+: .*another.*; it is tried again$/)]])
  }, 30_000)
})
