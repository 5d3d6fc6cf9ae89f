import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { modelOutcome } from '../../../domain/agent/events/model-outcome.ts'
import { redactOutcome } from '../../../domain/agent/runtime/redact.ts'
import { MAX_ARGUMENT_VALUES } from '../../../domain/calls/answer-bounds.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { argumentsHash } from '../../../domain/calls/plan-calls.ts'
import { readCalls, requestedCalls } from '../../../domain/calls/requested-calls.ts'
import { redactResult } from '../../../domain/calls/runtime/redact-result.ts'
import { toolResult } from '../../../domain/calls/tools/tool-result.ts'
import { base32 } from '../../../domain/log/ids.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { SecretBoundary } from '../../../domain/ports/runtime.ts'
import { compilePattern } from '../../../domain/secrets/compile-pattern.ts'
import { findShapes } from '../../../domain/secrets/known-secret-shapes.ts'
import { knownTexts } from '../../../domain/secrets/known-values.ts'
import { createRedactor, MAX_SECRETS, reference, resolveReferences } from '../../../domain/secrets/redactor.ts'
import { call, calls, completes } from '../../support/harness.ts'
import { NO_SECRETS } from '../../support/secrets/no-secrets.ts'
import { given, tool } from '../../support/story.ts'
import { VirtualClock } from '../../support/time/virtual-clock.ts'

// What is large is read, checked and redacted in steps, each part of it a bounded number of times. Faults planted: a block
// is not followed by a step; calls are read for each reader; text is redacted twice; a million secrets are hidden one by one.

const key = new Uint8Array(32).fill(7)
const redactor = createRedactor({ key, known: ['hunter2-secret'] })

/** The boundary of {@link redactor}, which counts the characters that it is given. */
function counting() {
  const seen = { characters: 0 }
  const count = <T>(value: T): T => {
    seen.characters += typeof value === 'string' ? value.length : JSON.stringify(value).length
    return value
  }
  const secrets: SecretBoundary = {
    ...NO_SECRETS,
    text: (text) => redactor.redactText(count(text)).value,
    json: <T>(value: T) => redactor.redactJson(count(value) as Json).value as T,
    arguments: (name, args) => redactor.redactArguments(name, count(args)).value,
    result: (value) => redactor.redactResult(count(value)).value,
  }
  return { seen, secrets }
}

function steps() {
  const taken = { count: 0 }
  return { taken, yieldToEventLoop: async () => void taken.count++ }
}

const answer = (content: readonly Block[]) => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
  return { content, stopReason: 'tool_use', usage, servedBy: 'm' } as const
}
const asked = (input_text: string, id = 'a') => ({ type: 'tool_use', id, name: 'look', input_text }) as Block
const finished = <T>(work: Generator<undefined, T>) => {
  for (let steps = 0; ; steps++) {
    const step = work.next()
    if (step.done) return { value: step.value, steps }
  }
}

describe('a large answer', () => {
  const content = [
    ...Array.from({ length: 20 }, (_, i) => asked(JSON.stringify({ path: '"\\'.repeat(1_000) }), `c${i}`)),
    ...Array.from({ length: 10 }, () => ({ type: 'text', text: 'words '.repeat(1_000) }) as Block),
  ]

  test('is redacted in a step for each call and each block, and each part is looked at twice at most', async () => {
    const { seen, secrets } = counting()
    const { taken, yieldToEventLoop } = steps()
    expect((await redactOutcome(secrets, answer(content), yieldToEventLoop)).content).toEqual(content)
    expect(taken.count).toBeGreaterThanOrEqual(20 + 30)
    expect(seen.characters).toBeLessThan(2.2 * JSON.stringify(content).length)
  })

  test('whose arguments are no JSON is looked at once', async () => {
    const { seen, secrets } = counting()
    const broken = [asked(`{"path":"${'x'.repeat(10_000)}`)]
    expect((await redactOutcome(secrets, answer(broken), steps().yieldToEventLoop)).content).toEqual(broken)
    expect(seen.characters).toBeLessThan(10_200)
  })

  test('has its calls read once, a step for each', () => {
    let reads = 0
    const block = Object.defineProperty(asked(''), 'input_text', { enumerable: true, get: () => ++reads && '{"a":1}' })
    const own = [block, asked('{}')]
    expect(finished(readCalls(own)).steps).toBe(2)
    const before = reads
    expect(requestedCalls(own)).toBe(requestedCalls(own))
    expect(reads).toBe(before)
    expect(requestedCalls([block])).toEqual([{ block: 0, providerId: 'a', name: 'look', arguments: { a: 1 } }])
  })

  test('has its arguments hashed once under a salt', () => {
    let reads = 0
    const args = Object.defineProperty({}, 'a', { enumerable: true, get: () => ++reads && 'x' })
    const first = argumentsHash('00', args)
    const before = reads
    expect(argumentsHash('00', args)).toBe(first)
    expect(reads).toBe(before)
    expect(argumentsHash('01', args)).not.toBe(first)
  })

  test('keeps its arguments as text from where they hold more values than are looked through', () => {
    const block = (id: string, n: number) => ({ type: 'tool_use', id, name: 'look', input: { list: Array(n).fill(1) } })
    const { content } = modelOutcome(
      answer([block('a', MAX_ARGUMENT_VALUES - 10), block('b', 1), block('c', 20), block('d', 1)] as Block[]),
    )
    expect(content.map((one) => 'input' in one)).toEqual([true, true, false, false])
    expect(content.slice(2).map((one) => one.input_text)).toEqual([
      JSON.stringify({ list: Array(20).fill(1) }),
      '{"list":[1]}',
    ])
  })

  test('gives way to others while a run is driven', async () => {
    let turns = 0
    const clock = Object.assign(new VirtualClock(), { giveWay: async () => void turns++ })
    const text = '"\\'.repeat(200_000)
    const large = calls(...['a', 'b', 'c', 'd', 'e'].map((id) => call('look', { text }, id)))
    const look = tool('look')
    const run = await given({ says: [large, completes()], tools: [look], ports: { clock } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(turns).toBeGreaterThan(1)
  })
})

describe('very many secrets', () => {
  const secret = (n: number) => `sk-${String(n).padStart(32, 'a')}`
  const holding = (count: number) => Array.from({ length: count }, (_, n) => secret(n)).join(' ')

  test('are hidden one by one up to a bound', () => {
    const { value, references } = redactor.redactText(holding(MAX_SECRETS))
    expect(references.size).toBe(MAX_SECRETS)
    expect(value.split(' ')).toHaveLength(MAX_SECRETS)
  })

  test.each([
    ['recognised', holding(MAX_SECRETS + 1)],
    ['known', 'hunter2-secret '.repeat(MAX_SECRETS + 1)],
    ['of both kinds', `${holding(MAX_SECRETS - 1)} ${'hunter2-secret '.repeat(2)}`],
  ])('beyond it are one, for which one reference stands: %s', (_, text) => {
    const { value, references } = redactor.redactText(text)
    expect(value).toBe(reference(key, text))
    expect([...references]).toEqual([[value, text]])
    expect(resolveReferences(value, (ref) => references.get(ref) ?? null)).toBe(text)
    expect(redactor.redactText(value).value).toBe(value)
  })

  test('are not looked for any further beyond it', () => {
    const many = holding(12)
    const whole = [{ start: 0, end: many.length }]
    expect(findShapes(many, 10)).toEqual(whole)
    expect(knownTexts(['sk-']).find(many, 10)).toEqual(whole)
    expect(compilePattern('sk-')(many.repeat(100), 10)).toEqual([{ start: 0, end: 100 * many.length }])
    for (const find of [findShapes, knownTexts(['sk-']).find, compilePattern('sk-')])
      expect(find(many, 12)).toHaveLength(12)
  })

  test('beyond it leave the references between them as they are', () => {
    const there = reference(key, 'before')
    const { value, references } = redactor.redactText(`${there} ${holding(MAX_SECRETS + 1)}`)
    expect(value).toMatch(/^secret:ku_\w{26}secret:ku_\w{26}$/)
    expect(value.startsWith(there)).toBe(true)
    expect(references.size).toBe(1)
  })

  test('under the names of secrets in a text of JSON are one beyond it too', () => {
    const text = JSON.stringify(Array.from({ length: MAX_SECRETS + 1 }, (_, n) => ({ token: `${n}` })))
    const { value, references } = redactor.redactResult(text)
    expect([...references]).toEqual([[value, text]])
  })

  test('have the references that HMAC-SHA-256 gives', () => {
    for (const value of ['', 'x', 'ü', 'long '.repeat(100)]) {
      const hmac = createHmac('sha256', key).update(value, 'utf8').digest()
      expect(reference(key, value)).toBe(`secret:ku_${base32(hmac).slice(0, 26)}`)
    }
  })
})

describe('a large result', () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ n, token: `t${n}`, note: n % 100 ? 'x' : 'hunter2-secret' }))
  const json: Json = {
    rows,
    'hunter2-secret': rows.slice(0, 9_000),
    password: 'p',
    text: 'y'.repeat(400_000),
    nil: null,
  }

  test('of JSON is redacted in batches, as it is in one go', async () => {
    const { secrets } = counting()
    const { taken, yieldToEventLoop } = steps()
    const { content } = await redactResult(secrets, { content: json }, yieldToEventLoop)
    expect(JSON.stringify(content)).toBe(JSON.stringify(redactor.redactResult(json).value))
    expect(taken.count).toBeGreaterThan(10)
  })

  test('of JSON is looked at once', async () => {
    const { seen, secrets } = counting()
    await redactResult(secrets, { content: json }, steps().yieldToEventLoop)
    expect(seen.characters).toBeLessThan(1.1 * JSON.stringify(json).length)
  })

  test('is made plain in steps', () => {
    const { value, steps } = finished(toolResult({ content: json }))
    expect(value.content).toEqual(json)
    expect(steps).toBe(2)
  })
})
