import { expect, test } from 'vitest'
import { call, calls, completes, harness, testSpec, toolSpec } from '../support/harness.ts'

// Law 10: bytes, calls and memory grow linearly with the run. Counted, not timed.

const echo = { spec: toolSpec('echo'), run: async () => ({ content: 'x'.repeat(100) }) }

async function measure(turns: number) {
  const h = harness((_, n) => (n < turns ? calls(call('echo', { n: 1_000 + n })) : completes()), { tools: [echo] })
  const count = { appends: 0, reads: 0, readEvents: 0, blobs: 0 }
  const { append, read } = h.log
  h.log.append = (...args) => {
    count.appends++
    return append.apply(h.log, args)
  }
  h.log.read = async function* (...args) {
    count.reads++
    for await (const page of read.apply(h.log, args)) {
      count.readEvents += page.length
      yield page
    }
  }
  const runId = await h.start(testSpec({ limits: { maxTurns: turns + 100, wallClockMs: null } }, [echo]))
  expect(await h.drive(runId)).toEqual({ end: 'done' })
  let events = 0
  let bytes = 0
  for await (const page of read.call(h.log, `agent-${runId}`)) {
    for (const { header, body } of page) {
      events++
      bytes += JSON.stringify(header).length + (body?.length ?? 0)
    }
  }
  const { state } = await h.runtime.at(runId, null)
  const { spec: _, ...small } = state
  return { ...count, events, bytes, state: JSON.stringify(small).length }
}

test('from 10 to 1,000 turns every turn costs the same events, bytes, appends and reads', async () => {
  const [ten, hundred, thousand] = [await measure(10), await measure(100), await measure(1_000)]
  const perTurn = (key: keyof typeof ten, a: typeof ten, b: typeof ten, turns: number) => (b[key] - a[key]) / turns
  for (const key of ['events', 'appends', 'reads', 'readEvents'] as const)
    expect(perTurn(key, hundred, thousand, 900), key).toBe(perTurn(key, ten, hundred, 90))
  const early = perTurn('bytes', ten, hundred, 90)
  // Turn numbers and counts grow by digits only.
  expect(perTurn('bytes', hundred, thousand, 900)).toBeLessThan(early * 1.02)
  expect(perTurn('appends', ten, hundred, 90)).toBe(2)
  expect(thousand.state).toBeLessThan(ten.state * 1.1)
})
