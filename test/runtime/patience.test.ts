import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/log-memory/log.ts'
import type { SealedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import { faulty } from '../support/faulty.ts'
import { call, calls, completes, MemoryBlobs } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

/** A log on a disk that has no room for so many appends of an outcome. */
class FullLog extends MemoryLog {
  refusals = 0
  refused = 0
  override async append(...given: Parameters<MemoryLog['append']>): ReturnType<MemoryLog['append']> {
    if (this.refusals > 0 && given[2].some(isOutcome)) {
      this.refusals--
      this.refused++
      throw new LogError('LOG_FULL', 'no room; make room on the disk and try again')
    }
    return super.append(...given)
  }
}

const isOutcome = ({ header }: SealedEvent) => ['model_call_end', 'tool_call_end'].includes(header.type)

async function onFullDisk(refusals: number, says = [calls(call('send')), completes()]) {
  const log = new FullLog()
  const warnings: string[] = []
  const send = tool('send', { effect: 'irreversible' })
  const run = await given({
    says,
    tools: [send],
    ports: { log, warn: (_, message) => warnings.push(message) },
  })
  log.refusals = refusals
  return { ...run, log, warnings, send }
}

test('an outcome waits for room on the disk; nothing is asked or done a second time', async () => {
  const run = await onFullDisk(6)
  const began = run.clock.now()
  expect(await run.drive()).toEqual({ end: 'done' })
  expect([run.log.refused, run.requests.length, run.send.ran.length]).toEqual([6, 2, 1])
  expect(run.warnings).toHaveLength(6)
  expect(run.warnings[0]).toMatch(/make room on the disk and try again; what has happened is kept/)
  // The waits grow: 0.5 + 1 + 2 + 4 + 8 + 16 s.
  expect(run.clock.now() - began).toBeGreaterThanOrEqual(31_500)
})

test('after minutes the drive ends with the named error, and a later one goes on', async () => {
  const sends = calls(call('send'))
  const run = await onFullDisk(Number.POSITIVE_INFINITY, [sends, sends, completes()])
  const began = run.clock.now()
  await expect(run.drive()).rejects.toMatchObject({ code: 'LOG_FULL' })
  expect(run.clock.now() - began).toBeGreaterThanOrEqual(5 * 60_000)
  run.log.refusals = 0
  expect(await run.drive()).toEqual({ end: 'done' })
  expect(run.send.ran).toHaveLength(1)
  expect((await run.runtime.verify(run.runId)).problems).toEqual([])
})

test('who breaks the drive off does not wait', async () => {
  const run = await onFullDisk(Number.POSITIVE_INFINITY)
  const began = run.clock.now()
  const stop = new AbortController()
  const driven = run.drive(stop.signal).catch((error: unknown) => error)
  while (run.warnings.length === 0) await new Promise(setImmediate)
  stop.abort()
  expect(await driven).toMatchObject({ code: 'LOG_FULL' })
  expect(run.clock.now() - began).toBeLessThan(60_000)
})

test('an outcome waits for blobs that cannot be stored just now', async () => {
  const stored = new MemoryBlobs()
  let failures = 3
  const blobs = faulty(stored, {
    put: async (...args) => {
      if (failures-- > 0) throw new LogError('LOG_UNAVAILABLE', 'EIO')
      return stored.put(...args)
    },
  })
  const send = tool('send', { effect: 'irreversible' }, () => 'x'.repeat(100_000))
  const run = await given({ says: [calls(call('send')), completes()], tools: [send], ports: { blobs } })
  expect(await run.drive()).toEqual({ end: 'done' })
  expect([failures, send.ran.length]).toEqual([-1, 1])
  expect(await run.ends()).toEqual(['send: ok', 'complete_task: ok'])
})
