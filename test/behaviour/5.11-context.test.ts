import { describe, expect, test } from 'vitest'
import type { UserCommand } from '../../domain/agent/decide/commands.ts'
import type { Message } from '../../domain/calls/content.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import { saltedHash } from '../../domain/log/ids.ts'
import type { ModelRequest } from '../../domain/ports/index.ts'
import { ContextManagementConfig } from '../../domain/tree/spec.ts'
import { call, calls, completes, harness, says, testModel, testSpec, USER } from '../support/harness.ts'
import { isSummary, LIMIT, long, used } from '../support/models/long-context.ts'
import { given, tool } from '../support/story.ts'

const results = (messages: readonly Message[]) => messages.filter((one) => one.role === 'tool')
const text = (message: Message | undefined) => JSON.stringify(message?.content)

describe('5.11.1: a context that has grown to 80 % of its limit', () => {
  test.each(['truncate', 'summarize', 'hybrid'])('is compressed, and the run goes on: %s', async (strategy) => {
    const { end, requests, of } = await long({ turns: 30, context: { compressionStrategy: strategy } })
    expect(end).toEqual({ end: 'done' })
    const compressed = await of('context_compressed')
    expect(compressed.length).toBeGreaterThan(0)
    for (const request of requests) expect(used(request).input).toBeLessThan(LIMIT)
    for (const event of compressed) expect(event.body).toMatchObject({ tokens: { limit: LIMIT }, reason: 'threshold' })
    const [first] = compressed as unknown as { body: { tokens: { before: number; after: number } } }[]
    expect(first!.body.tokens.before).toBeGreaterThanOrEqual(0.8 * LIMIT)
    expect(first!.body.tokens.after).toBeLessThan(first!.body.tokens.before)
  })

  test.each([
    ['one token', 1],
    ['no usage', 0],
  ])('is compressed by the own estimate when the provider reports %s', async (_, input) => {
    const reports = () => ({ input, output: 0, cacheRead: 0, cacheWrite: 0 })
    const { h, runId, end, requests, of } = await long({ turns: 30, reports })
    expect(end).toEqual({ end: 'done' })
    expect((await of('context_compressed')).length).toBeGreaterThan(1)
    for (const request of requests) expect(used(request).input).toBeLessThan(LIMIT)
    // The estimate is recorded where it matters, and is not billed.
    const answers = (await of('model_call_end')) as unknown as { body: { inputEstimate?: number } }[]
    const estimates = answers.map(({ body }) => body.inputEstimate ?? 0)
    expect(estimates[0]).toBe(0)
    expect(Math.max(...estimates)).toBeGreaterThan(0.5 * LIMIT)
    expect((await h.runtime.at(runId, null)).state.spent.input).toBe(answers.length * input)
  })

  test('is compressed by the reported usage when the request has fewer bytes a token', async () => {
    const reports = (request: ModelRequest) => ({ ...used(request), input: Math.ceil(used(request).input / 3) })
    const { of } = await long({ turns: 12, reports })
    for (const { body } of await of('model_call_end')) expect(body).not.toHaveProperty('inputEstimate')
  })

  test('5.11.2: keeps the task, and the calls and results of the last three turns whole', async () => {
    const { requests } = await long({ turns: 30, context: { compressionStrategy: 'truncate' } })
    for (const [n, { messages }] of requests.entries()) {
      expect(messages.some((one) => one.role === 'user' && one.content === 'do it')).toBe(true)
      const shown = results(messages).map(({ content }) => content)
      for (const turn of [n, n - 1, n - 2].filter((one) => one >= 1))
        expect(shown).toContain(`result ${turn}: ${'x'.repeat(2_000)}`)
    }
  })

  test('says which turns are hidden and how they are read', async () => {
    const { requests } = await long({ turns: 20, context: { compressionStrategy: 'truncate' } })
    const [first] = requests.at(-1)!.messages
    expect(first!.role).toBe('user')
    expect(text(first)).toMatch(/turns 1 to \d+ are not shown here.*call read_history with fromTurn 1/)
  })

  test('prunes old results before anything that was said is hidden', async () => {
    const { of, requests } = await long({ turns: 12 })
    const [first] = await of('context_compressed')
    expect(first!.body).toMatchObject({ strategy: 'hybrid' })
    const pruned = requests.find(({ messages }) => messages.some((one) => text(one)?.includes('was left out')))!
    expect(pruned.messages.filter(({ role }) => role === 'assistant')).toHaveLength(results(pruned.messages).length)
  })
})

describe('5.11: a summary', () => {
  test('is a call of its own, routed, billed and recorded as intent and outcome', async () => {
    const { h, runId, summaries, requests } = await long({ turns: 20, context: { compressionStrategy: 'summarize' } })
    const events = await h.events(runId)
    const at = events.findIndex(({ type, turn }) => type === 'model_call_start' && turn === 0)
    const story = events.slice(at - 1, at + 3).map(({ type }) => type)
    expect(story).toEqual(['model_routed', 'model_call_start', 'model_call_end', 'context_compressed'])
    expect(events[at]!.body).toMatchObject({ purpose: 'summary', attempt: 1 })
    expect(events[at + 1]!.body).toMatchObject({ purpose: 'summary', usage: used(summaries[0]!) })
    const { state } = await h.runtime.at(runId, null)
    const all = h.requests.reduce((sum, request) => sum + used(request).input, 0)
    expect(state.spent.input).toBe(all)
    const shown = requests.find(({ messages }) => text(messages[0])?.includes('summary '))!
    expect(text(shown.messages[0])).toContain('made by a model')
    // A later summary takes the earlier one up.
    expect(text(summaries[1]?.messages[0])).toContain('summary of what came before')
  })

  test.each([
    ['fails', () => new ModelError('OVERLOADED', 'no', { transient: true })],
    ['is refused', () => ({ ...says('x'), stopReason: 'refusal' as const })],
    ['is empty', () => says('')],
  ])('that %s twice: the context is truncated', async (_, summary) => {
    const { end, of, summaries } = await long({ turns: 20, summary, context: { compressionStrategy: 'summarize' } })
    expect(end).toEqual({ end: 'done' })
    const compressed = await of('context_compressed')
    expect(compressed.map(({ body }) => (body as { strategy: string }).strategy)).toContain('truncate')
    expect(await of('summary_failed')).toHaveLength(2 * compressed.length)
    expect(summaries).toHaveLength(2 * compressed.length)
  })
})

describe('5.11.2: what must be kept and does not fit', () => {
  test('is cut to head and tail of its results', async () => {
    const { requests, end } = await long({ turns: 6, bytes: 9_000, context: { compressionStrategy: 'truncate' } })
    expect(end).toEqual({ end: 'done' })
    const cut = requests.flatMap(({ messages }) => results(messages)).filter((one) => text(one)?.includes('left out;'))
    expect(cut.length).toBeGreaterThan(0)
    for (const one of cut) expect(text(one)).toMatch(/^"result \d+: x.*call read_result with toolCallId.*x"$/)
  })

  test('ends the run where it is too long even so', async () => {
    const { end, of } = await long({ spec: { instructions: 'x'.repeat(3 * LIMIT) } })
    expect(end).toMatchObject({ end: 'error', code: 'CONTEXT_OVERFLOW' })
    expect(end).toMatchObject({
      error: expect.stringMatching(/about \d+ tokens do not fit into the 8000.*fork the run/),
    })
    expect(await of('turn_end')).toHaveLength((await of('turn_start')).length)
  })
})

describe('5.11: limits at their ends', () => {
  test.each([
    ...[0, -0.1, 1.01, Number.NaN, Number.POSITIVE_INFINITY, '0.8'].map((compressionThreshold) => ({
      compressionThreshold,
    })),
    ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60].map((preserveLastN) => ({ preserveLastN })),
    ...[0, -1, 0.5, Number.NaN].map((maxTokens) => ({ maxTokens })),
  ])('%j is refused by name', (context) => {
    const { error } = ContextManagementConfig.safeParse(context)
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(Object.keys(context))
  })

  test.each([
    { compressionThreshold: 1 },
    { compressionThreshold: 0.000_1 },
    { preserveLastN: 0 },
    { preserveLastN: Number.MAX_SAFE_INTEGER },
  ])('with %j the run goes on, and each request fits', async (context) => {
    const { end, requests } = await long({ turns: 12, context: { ...context, compressionStrategy: 'truncate' } })
    expect(end).toEqual({ end: 'done' })
    for (const request of requests) expect(used(request).input).toBeLessThanOrEqual(LIMIT)
  })

  test('a result longer than the whole context is cut, and the run goes on', async () => {
    const { end } = await long({ turns: 2, bytes: 4 * LIMIT, context: { compressionStrategy: 'hybrid' } })
    expect(end).toEqual({ end: 'done' })
  })

  test('a summary that is longer than the context takes the place of nothing: no request is too long', async () => {
    const summary = () => says('s'.repeat(4 * LIMIT))
    const { end, requests } = await long({ turns: 16, summary, context: { compressionStrategy: 'summarize' } })
    expect(end).toEqual({ end: 'done' })
    for (const request of requests) expect(used(request).input).toBeLessThanOrEqual(LIMIT)
  })
})

describe('5.11: every request', () => {
  test.each(['truncate', 'summarize', 'hybrid'])('is rebuilt as it was sent, also after compression: %s', async (s) => {
    const { h, runId } = await long({ turns: 24, context: { compressionStrategy: s } })
    const { state } = await h.runtime.at(runId, null)
    const rebuilt = []
    for (let turn = 1; turn <= state.turn; turn++)
      for (const { request } of await h.runtime.requests(runId, turn)) rebuilt.push(request)
    const sent = h.requests.filter((one) => !isSummary(one))
    expect(rebuilt.map((one) => JSON.stringify(one))).toEqual(sent.map((one) => JSON.stringify(one)))
    const summaries = h.requests.filter(isSummary)
    if (summaries.length === 0) return
    const again = (await h.runtime.requests(runId, 0)).map(({ request }) => JSON.stringify(request))
    expect(again).toEqual(summaries.map((one) => JSON.stringify(one)))
  })
})

/** A run that has hidden turns and waits for input. */
async function waiting(spec: object = {}) {
  let asked = 0
  const h = harness(
    (request) => {
      const usage = used(request)
      asked++
      if (request.messages.some(({ content }) => content === 'read it'))
        return asked > 21
          ? { ...completes(), usage }
          : { ...calls(call('read_history', { fromTurn: 2, toTurn: 3 })), usage }
      if (asked === 20) return { ...calls(call('ask_user', { question: 'And?' })), usage }
      return asked > 20 ? { ...completes(), usage } : { ...calls(call('look', { n: asked }, `c${asked}`)), usage }
    },
    { tools: [tool('look', {}, (args) => `result ${args.n}: ${'x'.repeat(1_500)}`)] },
  )
  const known = [{ ...testModel, contextTokens: LIMIT, maxOutputTokens: 500 }]
  const asGiven = {
    models: { requested: 'test-model', safeDefault: 'test-model', known },
    limits: { maxTurns: 60, wallClockMs: null },
    context: { compressionStrategy: 'truncate' },
    ...{ readsOn: true, readsHistory: true },
    ...spec,
  }
  const runId = await h.start(testSpec(asGiven, [...h.tools.values()]))
  expect(await h.drive(runId)).toMatchObject({ end: 'waiting', for: 'input' })
  const say = (command: UserCommand) => h.runtime.execute(runId, command, { by: USER })
  return { h, runId, say, goOn: (words = 'go on') => say({ kind: 'input', text: words }).then(() => h.drive(runId)) }
}

describe('5.11.3: hidden turns', () => {
  test('come back into the next request when a person asks for them, with their calls', async () => {
    const { h, say, goOn } = await waiting()
    const before = h.requests.at(-1)!.messages
    expect(JSON.stringify(before)).not.toContain('result 2:')
    await say({ kind: 'expand_context', turns: { from: 2, to: 3 } })
    await goOn()
    const shown = h.requests.find(({ messages }) => messages.some(({ content }) => content === 'go on'))!.messages
    for (const n of [2, 3]) {
      expect(results(shown).map(({ content }) => content)).toContain(`result ${n}: ${'x'.repeat(1_500)}`)
      expect(JSON.stringify(shown)).toContain(`"id":"c${n}"`)
    }
    expect(JSON.stringify(shown)).not.toContain('result 1:')
  })

  test('stay hidden where they do not fit', async () => {
    const { h, say, goOn, runId } = await waiting()
    await say({ kind: 'expand_context' })
    expect(await goOn()).toEqual({ end: 'done' })
    const last = (await h.events(runId)).findLast(({ type }) => type === 'context_compressed')
    expect(last?.body).toMatchObject({ reason: 'expanded' })
    for (const request of h.requests) expect(used(request).input).toBeLessThan(LIMIT)
  })

  test('that there are none of cannot be asked for', async () => {
    const { say } = await waiting()
    await expect(say({ kind: 'expand_context', turns: { from: 19, to: 19 } })).rejects.toMatchObject({
      code: 'NOTHING_HIDDEN',
      message: expect.stringMatching(/hidden are 1 to \d+/),
    })
  })

  test('are read by the agent with read_history', async () => {
    const { h, goOn } = await waiting()
    await goOn('read it')
    const read = results(h.requests.at(-1)!.messages).at(-1)!
    expect(read).toMatchObject({ toolName: 'read_history', isError: false })
    const said = String(read.content)
    expect(said).toContain('== turn 2 ==\n\n[assistant]\ncalls look with {"n":2}')
    expect(said).toContain(`result 3: ${'x'.repeat(1_500)}`)
    expect(said).not.toContain('result 4:')
    expect(said).toMatch(/\[turns 2 to 3, bytes 0 to \d+ of \d+\]$/)
  })
})

describe('5.11.4: knowledge', () => {
  const knowledge = [
    { kind: 'file', name: 'rules.md', text: 'Never push on Fridays.' },
    { name: 'for others', text: 'Not for this one.', roles: ['architect'] },
  ]

  test('stands in every request, is recorded by source and hash, and again after each compression', async () => {
    const { requests, of, h, runId } = await long({
      turns: 20,
      spec: { knowledge },
      context: { compressionStrategy: 'truncate' },
    })
    for (const { messages } of requests) {
      const at = messages.findIndex(({ content }) => String(content).includes('Never push on Fridays.'))
      expect(messages[at]).toMatchObject({ role: 'system' })
      // After what stands for hidden turns, before everything that is kept.
      expect(at).toBe(String(messages[0]?.content).includes('are not shown here') ? 1 : 0)
      expect(JSON.stringify(messages)).not.toContain('Not for this one.')
    }
    const added = await of('knowledge_added')
    expect(added).toHaveLength(1 + (await of('context_compressed')).length)
    const hash = saltedHash((await h.runtime.at(runId, null)).state.hashSalt, 'Never push on Fridays.')
    for (const { body } of added)
      expect(body).toEqual({ items: [{ source: { kind: 'file', name: 'rules.md' }, hash }] })
  })

  test('that would fill the context alone is refused at the start', async () => {
    const much = [{ name: 'book', text: 'x'.repeat(2 * LIMIT) }]
    await expect(long({ spec: { knowledge: much } })).rejects.toMatchObject({
      code: 'SPEC_REFUSED',
      message: expect.stringContaining('more than half of a context of 8000 tokens'),
    })
  })
})

describe('5.11: a driver that is lost while a summary is made', () => {
  test('is billed by estimate; the next one has the summary made', async () => {
    let [asked, made] = [0, 0]
    const begun = Promise.withResolvers<void>()
    const answer = async (request: ModelRequest) => {
      if (!isSummary(request)) {
        const usage = used(request)
        return ++asked > 14 ? { ...completes(), usage } : { ...calls(call('look', { n: asked }, `c${asked}`)), usage }
      }
      if (++made > 1) return says('what happened')
      begun.resolve()
      return new Promise<never>(() => undefined)
    }
    const known = [{ ...testModel, contextTokens: LIMIT, maxOutputTokens: 500, timeoutMs: 2 ** 30 }]
    const run = await given({
      says: [answer],
      tools: [tool('look', {}, () => 'x'.repeat(2_000))],
      spec: {
        models: { requested: 'test-model', safeDefault: 'test-model', known },
        context: { compressionStrategy: 'summarize' },
      },
    })
    void run.drive()
    await begun.promise
    const { signal } = new AbortController()
    expect(await run.elsewhere().drive(run.runId, { signal })).toEqual({ end: 'done' })
    const about = (await run.events()).filter(({ turn, type }) => turn === 0 && type.startsWith('model_'))
    expect(about.slice(0, 5).map(({ type }) => type)).toEqual([
      ...['model_routed', 'model_call_start', 'model_attempt_lost', 'model_routed', 'model_call_start'],
    ])
    expect(made).toBeGreaterThan(1)
  })
})
