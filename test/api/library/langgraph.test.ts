import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Annotation, Command, interrupt, START, StateGraph } from '@langchain/langgraph'
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { expect, onTestFinished, test } from 'vitest'
import { openKeepUp } from '../../../api/index.ts'
import { KeepUpSaver } from '../../../api/library/langgraph.ts'
import { proveStream } from '../../../api/operations/streams/prove-stream.ts'

// LangGraph's own graphs over the checkpointer. `npm run test:langgraph` runs the official validation suite.

function folder() {
  const data = mkdtempSync(join(tmpdir(), 'keepup-langgraph-'))
  onTestFinished(() => rmSync(data, { recursive: true }))
  return data
}

async function opened(data = folder()) {
  const keepup = await openKeepUp({ data })
  onTestFinished(() => keepup.close())
  return { data, keepup, saver: new KeepUpSaver(keepup, { by: 'ada' }) }
}

const State = Annotation.Root({ order: Annotation<string>, charged: Annotation<number>, answer: Annotation<string> })

/** A graph that charges an order, asks a person, and ships. `effects`: the names of the effects in order. */
const graphOf = (saver: KeepUpSaver, effects: string[]) =>
  new StateGraph(State)
    .addNode('charge', () => {
      effects.push('charge')
      return { charged: 12 }
    })
    .addNode('ask', () => ({ answer: interrupt('Ship it?') as string }))
    .addNode('ship', () => {
      effects.push('ship')
      return {}
    })
    .addEdge(START, 'charge')
    .addEdge('charge', 'ask')
    .addEdge('ask', 'ship')
    .compile({ checkpointer: saver })

const thread = { configurable: { thread_id: 'order 42' } }

test('a graph that waits for a person goes on after the process has ended, and repeats no finished node', async () => {
  const effects: string[] = []
  const { data, keepup, saver } = await opened()
  expect(await graphOf(saver, effects).invoke({ order: '42' }, thread)).toMatchObject({
    __interrupt__: [{ value: 'Ship it?' }],
  })
  await keepup.close()
  const again = await opened(data)
  const graph = graphOf(again.saver, effects)
  expect((await graph.getState(thread)).next).toEqual(['ask'])
  expect(await graph.invoke(new Command({ resume: 'yes' }), thread)).toEqual({
    order: '42',
    charged: 12,
    answer: 'yes',
  })
  expect(effects).toEqual(['charge', 'ship'])
  const { services } = again.keepup
  const { streams } = await again.keepup.listStreams({ prefix: 'thread-' })
  expect(streams).toHaveLength(1)
  expect(await proveStream(services, streams[0]!.stream)).toMatchObject({ ok: true, unchecked: 0, problems: [] })
})

test('a value is stored once, however many checkpoints and versions have it', async () => {
  const { keepup, saver } = await opened()
  const large = 'large '.repeat(1_000)
  let config: Parameters<typeof saver.put>[0] = { configurable: { thread_id: 't1' } }
  for (let version = 1; version <= 20; version++) {
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(version), channel_values: { doc: large, step: version } }
    const versions = { doc: version > 10 ? 2 : 1, step: version }
    checkpoint.channel_versions = versions
    config = await saver.put(config, checkpoint, { source: 'loop', step: version, parents: {} }, versions)
  }
  const { events } = await keepup.listStreamEvents({ stream: 'thread-t1', limit: 100 })
  expect(JSON.stringify(events).split(large)).toHaveLength(2)
  const found = []
  for await (const { checkpoint } of saver.list({ configurable: { thread_id: 't1' } }))
    found.push(checkpoint.channel_values)
  expect(found).toHaveLength(20)
  expect(found.every(({ doc }) => doc === large)).toBe(true)
  expect(found.map(({ step }) => step)).toEqual(Array.from({ length: 20 }, (_, i) => 20 - i))
})

test('deleteThread empties the log of the thread for ever, and the name can be used again', async () => {
  const { data, keepup, saver } = await opened()
  const graph = graphOf(saver, [])
  await graph.invoke({ order: 'a word that nobody else says' }, thread)
  await graph.invoke({ order: 'another' }, { configurable: { thread_id: 'kept' } })
  await saver.deleteThread('order 42')
  await saver.deleteThread('order 42')
  expect(await saver.getTuple(thread)).toBeUndefined()
  expect(await saver.getTuple({ configurable: { thread_id: 'kept' } })).toBeDefined()
  const { streams } = await keepup.listStreams({ prefix: 'thread-' })
  for (const { stream } of streams) expect(await proveStream(keepup.services, stream)).toMatchObject({ ok: true })
  await graph.invoke({ order: 'anew' }, thread)
  expect((await graph.getState(thread)).values).toMatchObject({ order: 'anew' })
  await keepup.close()
  const bytes = readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name)).toString('latin1'))
  expect(bytes.join('')).not.toContain('a word that nobody else says')
})

test('two programs of one process see each other, and a config without a thread is refused', async () => {
  const { keepup, saver } = await opened()
  const other = new KeepUpSaver(keepup)
  await graphOf(saver, []).invoke({ order: '1' }, thread)
  expect((await graphOf(other, []).getState(thread)).next).toEqual(['ask'])
  const metadata = { source: 'input' as const, step: -1, parents: {} }
  await expect(saver.put({}, emptyCheckpoint(), metadata, {})).rejects.toThrow('"thread_id"')
  await expect(saver.getTuple({ configurable: { thread_id: 42 } })).rejects.toThrow('give a string')
})
