import { expect, test } from 'vitest'
import { call, calls, completes, harness, testSpec, toolSpec } from '../support/harness.ts'

test('a driver whose clock is behind the log performs a lost call at once', async () => {
  const spec = toolSpec('look', { timeLimitMs: 60_000 })
  const hangs = { spec, run: () => new Promise<never>(() => undefined) }
  const ahead = harness(() => calls(call('look')), { tools: [hangs] })
  ahead.clock.time += 3_600_000
  const runId = await ahead.start(testSpec({}, [hangs]))
  void ahead.drive(runId)
  await expect.poll(() => ahead.types(runId)).toContain('tool_call_start')

  const looks = { spec, run: async () => ({ content: 'seen' }) }
  const behind = harness(() => completes(), { log: ahead.log, seed: 'behind', tools: [looks] })
  const before = behind.clock.time
  expect(await behind.drive(runId)).toEqual({ end: 'done' })
  expect(behind.clock.time - before).toBeLessThan(60_000)
})
