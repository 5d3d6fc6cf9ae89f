import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { Transcript } from '../../domain/agent/state/transcript.ts'
import { unchanged, WHOLE_TURNS } from '../../domain/agent/window/compression-plan.ts'
import { shownContext } from '../../domain/agent/window/shown-context.ts'
import type { Message } from '../../domain/calls/content.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import type { ModelRequest } from '../../domain/ports/index.ts'
import { casesOf } from '../support/cases.ts'
import { call, calls, completes, harness, says, testModel, testSpec, USER } from '../support/harness.ts'
import { law } from '../support/laws.ts'
import { tool } from '../support/story.ts'

// For any plan of turns and any settings of compression: what must be kept is kept, no call is separated from its result,
// hidden turns come back as the same messages, and every request is rebuilt byte for byte (seed 000, 5.11).

const turn = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ sizes: fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ says: fc.constantFrom('cut' as const, 'ask' as const, 'fail' as const) }) },
)

const planArbitrary = fc.record({
  turns: fc.array(turn, { minLength: 4, maxLength: 24 }),
  limit: fc.integer({ min: 2_500, max: 6_000 }),
  context: fc.record({
    compressionStrategy: fc.constantFrom('truncate' as const, 'summarize' as const, 'hybrid' as const),
    compressionThreshold: fc.constantFrom(0.3, 0.8, 1),
    preserveLastN: fc.integer({ min: 0, max: 6 }),
  }),
  /** Which summaries fail. */
  failing: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
  /** The tokens that the provider counts for three bytes. */
  tokens: fc.constantFrom(0.6, 1, 1.3),
})
type Plan = typeof planArbitrary extends fc.Arbitrary<infer T> ? T : never

async function lived({ turns, limit, context, failing, tokens }: Plan) {
  let [asked, summaries, inputs] = [0, 0, 0]
  const h = harness(
    (request) => {
      const input = Math.ceil((tokens * JSON.stringify(request).length) / 3)
      const usage = { input, output: 10, cacheRead: 0, cacheWrite: 0 }
      if (request.tools.length === 0) {
        if (failing[summaries++ % failing.length]) return new ModelError('OVERLOADED', 'no', { transient: true })
        return { ...says(`summary ${summaries}`), usage }
      }
      const planned = turns[asked++]
      if (planned === undefined) return { ...completes(), usage }
      if ('sizes' in planned)
        return {
          ...calls(...planned.sizes.map((size, i) => call('look', { size, at: `${asked}.${i}` }, `c${asked}.${i}`))),
          usage,
        }
      if (planned.says === 'fail') return new ModelError('NETWORK', 'no', { transient: true })
      if (planned.says === 'cut') return { ...says(`thought ${asked}`), stopReason: 'max_tokens', usage }
      return { ...calls(call('ask_user', { question: 'And?' }, `a${asked}`)), usage }
    },
    { tools: [tool('look', {}, ({ at, size }) => `${at} ${'x'.repeat(Number(size))}`)] },
  )
  const known = [{ ...testModel, contextTokens: limit, maxOutputTokens: 300 }]
  const spec = testSpec(
    {
      context,
      models: { requested: 'test-model', safeDefault: 'test-model', known },
      policy: { mode: 'batch' },
      limits: { maxTurns: 60, wallClockMs: null },
      retry: { maxRetries: 0, backoffMs: 1, modelOutageMs: 0 },
      readsOn: true,
    },
    [...h.tools.values()],
  )
  const runId = await h.start(spec, 'input 0')
  for (let end = await h.drive(runId); end.end === 'waiting'; end = await h.drive(runId))
    await h.runtime.execute(runId, { kind: 'input', text: `input ${++inputs}` }, { by: USER })
  return { h, runId, events: await h.events(runId), known: known[0]! }
}

const isTurn = (request: ModelRequest) => request.tools.length > 0

/** The messages as they are before each model call of a turn. */
function* toldBefore(events: readonly AgentEvent[]) {
  const transcript = new Transcript()
  for (const event of events) {
    transcript.push(event)
    if (event.type === 'model_call_start' && event.turn > 0)
      yield { turn: event.turn, messages: [...transcript.messages], turns: [...transcript.turns] }
  }
}

function holdsPairs(messages: readonly Message[]): void {
  const asked = messages.flatMap((one) =>
    one.role === 'assistant' ? one.content.filter((b) => b.type === 'tool_use') : [],
  )
  const ended = messages.flatMap((one) => (one.role === 'tool' ? [one.providerCallId] : []))
  expect(ended).toEqual(asked.map(({ id }) => id))
}

/** A result is whole, or its head and its tail are there. */
function isWholeOrCut(shown: string, whole: string): boolean {
  if (shown === whole) return true
  const [head, tail] = shown.split(/\n\[… .* …\]\n/s)
  return tail !== undefined && whole.startsWith(head!) && whole.endsWith(tail)
}

test('compression keeps what it must, and every request is rebuilt', async () => {
  let compressed = 0
  await law(planArbitrary, 64, async (plan) => {
    const { h, runId, events, known } = await lived(plan)
    const sent = h.requests.filter(isTurn)
    const told = [...toldBefore(events)]
    expect(told).toHaveLength(sent.length)
    for (const [n, { messages }] of sent.entries()) {
      const before = told[n]!
      holdsPairs(messages)
      const { preserveLastN } = plan.context
      const users = before.messages.filter(({ role }) => role === 'user')
      for (const user of preserveLastN === 0 ? [] : users.slice(-preserveLastN)) expect(messages).toContainEqual(user)
      for (const [i, message] of before.messages.entries()) {
        if (before.turns[i]! < before.turn - WHOLE_TURNS) continue
        if (message.role !== 'tool') expect(messages).toContainEqual(message)
        else {
          const shown = messages.find((one) => one.role === 'tool' && one.toolCallId === message.toolCallId)
          expect(isWholeOrCut(String(shown?.content), message.content)).toBe(true)
        }
      }
    }
    const { state } = await h.runtime.at(runId, null)
    const rebuilt = async (turn: number) =>
      (await h.runtime.requests(runId, turn)).map(({ request }) => JSON.stringify(request))
    // A turn's requests are read from the beginning of the log on: some of them stand for all.
    for (const [n, { turn }] of told.entries())
      if (n % 4 === 0 || n === told.length - 1) expect(await rebuilt(turn)).toContain(JSON.stringify(sent[n]))
    const summaries = h.requests.filter((one) => !isTurn(one)).map((one) => JSON.stringify(one))
    if (summaries.length > 0) expect(await rebuilt(0)).toEqual(summaries)
    const transcript = new Transcript()
    for (const event of events) transcript.push(event)
    const roomy = { ...known, contextTokens: 100_000_000 }
    const all = shownContext(state, transcript, roomy, [{ from: 0, to: state.turn }])
    const shown = unchanged(all).segments
    expect(all.hidden).toEqual([])
    expect(shown[0]?.from).toBe(0)
    expect(all.entries.map(({ message }) => message)).toEqual(transcript.messages)
    expect((await h.runtime.verify(runId)).ok).toBe(true)
    if (events.some(({ type }) => type === 'context_compressed')) compressed++
  })
  // Else the law would hold of runs that compress nothing.
  expect(compressed).toBeGreaterThan(casesOf(64) / 16)
})
