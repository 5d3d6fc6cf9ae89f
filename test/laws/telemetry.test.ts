import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import type { Span } from '../../domain/calls/telemetry.ts'
import { recorded } from '../support/golden/files.ts'
import { appendAgain } from '../support/golden/recording.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { law } from '../support/laws.ts'
import { BEFORE } from '../support/log/sealing.ts'
import { planArbitrary } from '../support/plans.ts'
import { CONVENTION, OURS } from '../support/telemetry/names.ts'
import { countsIn, expectSound, isContainer, runsIn, type Stores, spansIn } from '../support/telemetry/spans.ts'
import { treeArbitrary } from '../support/tree/plans.ts'
import { TreeWorld } from '../support/tree/world.ts'
import { World } from '../support/world.ts'

// The spans of a run follow from its events alone: any history gives one tree of spans, and a second export the same one.

const histories = recorded()

/** A log with the first appends of a recorded history. */
async function logOf(text: string, share = 1): Promise<Stores> {
  const stores = { log: new MemoryLog({ clock: BEFORE }), blobs: new MemoryBlobs() }
  const lines = text.trim().split('\n')
  const appends = 1 + Math.max(...lines.map((line) => (JSON.parse(line) as { append: number }).append))
  const kept = lines.filter((line) => (JSON.parse(line) as { append: number }).append < Math.ceil(appends * share))
  await appendAgain(kept.join('\n'), stores.log, stores.blobs)
  return stores
}

async function expectLaws(stores: Stores): Promise<void> {
  for (const runId of await runsIn(stores)) {
    const spans = await spansIn(stores, runId)
    expectSound(spans, runId)
    expect(JSON.stringify(await spansIn(stores, runId))).toBe(JSON.stringify(spans))
    const { answers, nanoDollars, results } = await countsIn(stores, runId)
    const isReported = ({ attributes }: Span) => attributes['keepup.governed'] === false
    const chats = spans.filter((span) => span.name.startsWith('chat ') && !isReported(span))
    const costs = chats.map(({ attributes }) => Number(attributes['keepup.cost.nano_dollars'] ?? 0))
    expect(chats.filter(({ error }) => error === null)).toHaveLength(answers)
    expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(nanoDollars)
    const ended = new Set(spans.filter(isGoverned).map(({ attributes }) => attributes['gen_ai.tool.call.id']))
    expect(ended.size).toBeGreaterThanOrEqual(results)
    for (const { attributes, events } of spans)
      for (const name of [attributes, ...events.map((event) => event.attributes)].flatMap(Object.keys))
        expect([...CONVENTION, ...OURS], 'a name of the conventions, or one of ours').toContain(name)
  }
}

const isGoverned = ({ attributes }: Span) =>
  attributes['gen_ai.tool.call.id'] !== undefined && attributes['keepup.governed'] === undefined

test.each(histories.map((one) => [`${one.name}.${one.number}`, one.text] as const))(
  'every run of %s is one tree of spans',
  async (_, text) => {
    await expectLaws(await logOf(text))
  },
)

/** Strings of three words and more are texts of people, models and tools. Names and ids have fewer. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return /\S \S+ \S/.test(value) ? [value] : []
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsOf) : []
}

test('spans have no text of a body without content, and no text of an erased body with it', async () => {
  let [texts, erasedTexts] = [0, 0]
  for (const { text } of histories) {
    const stores = await logOf(text)
    const plain: string[] = []
    for (const run of await runsIn(stores)) plain.push(JSON.stringify(await spansIn(stores, run)))
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { hash: string; body: string })
    const said = new Map(lines.map(({ hash, body }) => [hash, textsOf(JSON.parse(body))]))
    for (const one of [...said.values()].flat()) {
      expect(
        plain.some((spans) => spans.includes(JSON.stringify(one).slice(1, -1))),
        one,
      ).toBe(false)
      texts += 1
    }
    const [erased, kept] = [new Set<string>(), new Set<string>()]
    for await (const page of stores.log.streams(''))
      for (const stream of page)
        for await (const events of stores.log.read(stream))
          for (const event of events)
            for (const one of said.get(event.hash) ?? []) (event.erased ? erased : kept).add(one)
    for (const run of await runsIn(stores)) {
      const spans = JSON.stringify(await spansIn(stores, run, { content: true }))
      for (const one of erased)
        if (![...kept].some((text) => text.includes(one))) {
          // A string within a JSON text is escaped twice.
          const escaped = JSON.stringify(JSON.stringify(one).slice(1, -1)).slice(1, -1)
          expect(spans.includes(escaped) || spans.includes(one), one).toBe(false)
          erasedTexts += 1
        }
    }
  }
  expect(texts).toBeGreaterThan(100)
  expect(erasedTexts).toBeGreaterThan(10)
})

test('an unfinished run has spans of what has ended, with the ids of later exports, below open agents', async () => {
  const one = fc.constantFrom(...histories.filter(({ name }) => name !== 'erased'))
  await law(fc.tuple(one, fc.double({ min: 0.05, max: 1, noNaN: true })), 60, async ([{ text }, share]) => {
    const [part, whole] = [await logOf(text, share), await logOf(text)]
    for (const runId of await runsIn(part)) {
      const [before, after] = [await spansIn(part, runId), await spansIn(whole, runId)]
      expectSound(before, runId)
      const later = new Map(after.map((span) => [span.spanId, span]))
      for (const span of before) {
        const same = later.get(span.spanId)
        expect(same?.start, span.name).toBe(isContainer(span) ? same?.start : span.start)
        if (isContainer(span)) continue
        const { parentSpanId: _, ...rest } = span
        expect({ ...same, parentSpanId: undefined }).toEqual({ ...rest, parentSpanId: undefined })
      }
      for (const span of before.filter(isContainer))
        if (span.attributes['keepup.open'] === undefined && !span.name.startsWith('invoke_workflow'))
          expect(later.get(span.spanId)?.end).toBe(span.end)
    }
  })
})

test('every generated run is one tree of spans', async () => {
  await law(planArbitrary, 25, async (plan) => {
    const world = new World(plan)
    await world.live()
    await expectLaws({ log: world.log, blobs: world.blobs })
  })
})

test('every generated tree of agents whose processes die is one tree of spans', async () => {
  await law(fc.tuple(treeArbitrary, fc.nat(20)), 15, async ([plan, death]) => {
    let left = death
    const world = new TreeWorld(plan, () => left-- === 0)
    world.boot()
    await world.live()
    const stores = { log: world.log, blobs: world.blobs }
    await expectLaws(stores)
    const [runId] = await runsIn(stores)
    const spans = await spansIn(stores, runId!)
    const agents = spans.filter(({ name }) => name.startsWith('invoke_agent'))
    expect(spans.filter(({ name }) => name.startsWith('invoke_workflow'))).toHaveLength(agents.length > 1 ? 1 : 0)
  })
})
