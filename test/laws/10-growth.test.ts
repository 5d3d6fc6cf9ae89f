import { expect, test } from 'vitest'
import { call, calls, completes, harness, says, testModel, testSpec, toolSpec } from '../support/harness.ts'

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

async function compressed(turns: number) {
  let longest = 0
  const h = harness(
    (request, n) => {
      const size = JSON.stringify(request).length
      const usage = { input: Math.ceil(size / 3), output: 10, cacheRead: 0, cacheWrite: 0 }
      if (request.tools.length === 0) return { ...says('what has happened'), usage }
      longest = Math.max(longest, size)
      return n < turns ? { ...calls(call('echo', { n: 1_000 + n })), usage } : { ...completes(), usage }
    },
    { tools: [echo] },
  )
  const models = { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, contextTokens: 4_000 }] }
  const runId = await h.start(testSpec({ models, limits: { maxTurns: turns + 100, wallClockMs: null } }, [echo]))
  expect(await h.drive(runId)).toEqual({ end: 'done' })
  const facts = (await h.events(runId)).filter(({ type }) => type === 'context_compressed')
  const { state } = await h.runtime.at(runId, null)
  const { spec: _, ...small } = state
  return { longest, facts: Math.max(...facts.map(({ size }) => size)), state: JSON.stringify(small).length }
}

test('with compression, requests, its facts and the state are no longer after 300 turns than after 100', async () => {
  const [early, late] = [await compressed(100), await compressed(300)]
  // Numbers of turns and revisions have a digit more.
  for (const key of ['longest', 'facts', 'state'] as const) expect(late[key], key).toBeLessThan(early[key] * 1.05)
})
