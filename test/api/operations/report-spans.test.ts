import { expect, test } from 'vitest'
import { reportSpans } from '../../../api/operations/external/report-spans.ts'
import type { Services } from '../../../api/operations/services.ts'
import type { OtlpSpan } from '../../../domain/external/reported/otlp-span.ts'
import type { UnnumberedSpan } from '../../../domain/external/reported/span.ts'
import type { Json } from '../../../domain/log/json.ts'
import { NOW, otlpSpan } from '../../support/external/otlp-spans.ts'

const SECRET = 's3cret-s3cret'
const traceId = (n: number) => n.toString(16).padStart(32, '0')

/** Services that record the reports. `report`: called for each. `read`: called for each span that is read. */
function recording(report: (trace: string) => Promise<void> = async () => undefined, read = () => {}) {
  const reports = new Map<string, readonly UnnumberedSpan[]>()
  const hide = (value: Json) => JSON.parse(JSON.stringify(value).replaceAll(SECRET, '(secret)')) as Json
  const agents = {
    price: () => null,
    log: async () => ({
      hideValue: async (value: Json) => {
        read()
        return hide(value)
      },
    }),
    reports: {
      async report(trace: string, spans: readonly UnnumberedSpan[]) {
        await report(trace)
        reports.set(trace, spans)
        return 0
      },
    },
  }
  const s = { agents, clock: { now: () => NOW }, log: { logId: 'this-log' } } as unknown as Services
  const send = (spans: readonly OtlpSpan[], signal = new AbortController().signal) =>
    reportSpans(s, { spans, faults: [] }, {}, signal)
  return { reports, send }
}

test('secrets are hidden before texts are cut', async () => {
  const { reports, send } = recording()
  const at = (bytes: number) => 'x'.repeat(bytes - 5) + SECRET
  const events = [{ name: at(256), atNano: 1n, attributes: {} }]
  const status = { code: 2, message: at(4_096) }
  const attributes = { 'gen_ai.tool.name': at(256), 'gen_ai.operation.name': 'execute_tool' }
  await send([otlpSpan(1, null, { name: at(256), service: at(256), status, events, attributes })])
  const stored = JSON.stringify([...reports.values()])
  expect(stored).toContain('(sec')
  expect(stored).not.toContain(SECRET.slice(0, 5))
})

test('other work is served between the spans of a long request', async () => {
  let read = 0
  const { send } = recording(undefined, () => {
    read += 1
    for (const until = performance.now() + 25; performance.now() < until; );
  })
  const served = new Promise<number>((resolve) => setImmediate(() => resolve(read)))
  await send([1, 2, 3].map((n) => otlpSpan(n, null)))
  expect([await served, read]).toEqual([1, 3])
})

test('spans that keepup exported from this log are refused, those of another log are not', async () => {
  const { reports, send } = recording()
  const own = { service: 'keepup', instance: 'this-log' }
  const answer = await send([
    otlpSpan(1, null, own),
    otlpSpan(2, null, { ...own, instance: 'another' }),
    otlpSpan(3, null, { ...own, service: 'shop' }),
  ])
  expect(answer).toEqual({ rejected: 1, message: expect.stringContaining('exported') })
  expect([...reports.values()].flat()).toHaveLength(2)
})

test('a request starts a bounded number of runs, and says what it refused', async () => {
  const { reports, send } = recording()
  const spans = Array.from({ length: 1_003 }, (_, n) => otlpSpan(1, null, { traceId: traceId(n + 1) }))
  expect(await send([...spans, otlpSpan(2, null, { traceId: traceId(1) })])).toEqual({
    rejected: 3,
    message: expect.stringMatching(/^3 × a request may have at most 1000 traces/),
  })
  expect([reports.size, reports.get(traceId(1))!.length]).toEqual([1_000, 2])
})

test('a request that ends early starts no further runs, and waits for those that it writes', async () => {
  const ended = new AbortController()
  const gate = Promise.withResolvers<void>()
  const { reports, send } = recording(async (trace) => {
    if (trace === traceId(1)) throw new Error('the log does not answer')
    ended.abort(new Error('the client is gone'))
    await gate.promise
  })
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => otlpSpan(1, null, { traceId: traceId(n + 1) }))
  let isSettled = false
  const failing = send(many(16)).finally(() => {
    isSettled = true
  })
  const failed = expect(failing).rejects.toThrow('does not answer')
  for (let turn = 0; turn < 200; turn++) await Promise.resolve()
  expect(isSettled).toBe(false)
  gate.resolve()
  await failed
  expect(reports.size).toBe(15)
  await expect(send(many(20).slice(1), ended.signal)).rejects.toThrow('the client is gone')
  expect(reports.size).toBe(15)
})
