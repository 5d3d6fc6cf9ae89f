import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunnableConfig } from '@langchain/core/runnables'
import { Annotation, Command, interrupt, START, StateGraph } from '@langchain/langgraph'
import {
  type ChannelVersions,
  type Checkpoint,
  copyCheckpoint,
  emptyCheckpoint,
  MemorySaver,
  uuid6,
} from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { KeepUpSaver } from '../../../api/library/langgraph.ts'
import { proveStream } from '../../../api/operations/streams/prove-stream.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { Streams } from '../../../domain/stream/runtime/streams.ts'
import { thread as threadKind } from '../../../domain/thread/aggregate.ts'
import { Threads } from '../../../domain/thread/runtime/threads.ts'
import { law } from '../../support/laws.ts'

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

// Branches, erasures and secrets.

type Saver = Pick<KeepUpSaver, 'put' | 'getTuple' | 'getNextVersion'>
const CHANNELS = ['x', 'y'] as const
const Step = fc.record({
  /** Which of the earlier checkpoints it follows. */
  after: fc.nat(),
  copy: fc.boolean(),
  values: fc.dictionary(fc.constantFrom(...CHANNELS), fc.constantFrom('A', 'B', 'C'), { minKeys: 1 }),
})

/** Plays steps as LangGraph does: a branch counts its versions on from its parent, a copy stands beside its source. */
async function played(saver: Saver, steps: readonly (typeof Step extends fc.Arbitrary<infer T> ? T : never)[]) {
  const saved = [{ config: thread as RunnableConfig, parent: thread as RunnableConfig, checkpoint: emptyCheckpoint() }]
  for (const [at, { after, copy, values }] of steps.entries()) {
    const { config, parent, checkpoint: before } = saved[after % saved.length]!
    const checkpoint = { ...copyCheckpoint(before), id: uuid6(at) }
    const versions: ChannelVersions = {}
    if (!copy)
      for (const [channel, value] of Object.entries(values)) {
        checkpoint.channel_values[channel] = value
        versions[channel] = saver.getNextVersion(checkpoint.channel_versions[channel] as number | undefined)
      }
    checkpoint.channel_versions = { ...checkpoint.channel_versions, ...versions } as Checkpoint['channel_versions']
    const metadata = { source: copy ? 'fork' : 'loop', step: at, parents: {} } as const
    const place = copy ? parent : config
    saved.push({ config: await saver.put(place, checkpoint, metadata, versions), parent: place, checkpoint })
  }
  const found = await Promise.all(saved.slice(1).map(({ config }) => saver.getTuple(config)))
  return found.map((tuple) => tuple?.checkpoint.channel_values)
}

test('every checkpoint of every branch keeps the values that it was saved with', async () => {
  const keepup = await openKeepUp({ home: 'memory' })
  onTestFinished(() => keepup.close())
  await law(fc.array(Step, { minLength: 1, maxLength: 12 }), 60, async (steps) => {
    const name = `t${uuid6(0)}`
    const own: Saver = new KeepUpSaver(keepup)
    const named: Saver = {
      getNextVersion: (version) => own.getNextVersion(version),
      put: (config, ...rest) => own.put(inThread(config, name), ...rest),
      getTuple: (config) => own.getTuple(config),
    }
    expect(await played(named, steps)).toEqual(await played(new MemorySaver(), steps))
  })
})

const inThread = ({ configurable, ...rest }: RunnableConfig, thread_id: string): RunnableConfig => ({
  ...rest,
  configurable: { ...configurable, thread_id },
})

test('a changed past is another branch: the checkpoints of the first one stay as they were', async () => {
  const { saver } = await opened()
  const graph = new StateGraph(Annotation.Root({ x: Annotation<string>, more: Annotation<string> }))
    .addNode('shout', ({ x }) => ({ x: `${x}!` }))
    .addEdge(START, 'shout')
    .compile({ checkpointer: saver })
  await graph.invoke({ x: 'A' }, thread)
  const history = await Array.fromAsync(graph.getStateHistory(thread))
  const [last, first] = history as [(typeof history)[0], (typeof history)[0]]
  expect([last.values, first.values]).toEqual([{ x: 'A!' }, { x: 'A' }])
  const fork = await graph.updateState(first.config, { x: 'B' })
  const copy = await graph.updateState(last.config, null, '__copy__')
  const values = async (config: RunnableConfig) => (await graph.getState(config)).values
  expect(await Promise.all([fork, first.config, last.config, copy].map(values))).toEqual([
    { x: 'B' },
    { x: 'A' },
    { x: 'A!' },
    { x: 'A!' },
  ])
})

/** A checkpoint of one channel, without parents. */
const one = (id: string, value: string, version = 1) => ({
  ...{ namespace: '', id, parent: null },
  checkpoint: { type: 'json', text: '{}' },
  metadata: { type: 'json', text: '{}' },
  values: [{ channel: 'x', version, value: { type: 'json', text: JSON.stringify(value) } }],
})

/** Threads over the services of a program, with some parts replaced. */
function threadsWith({ services }: KeepUp, replaced: Partial<Pick<Streams, 'hide' | 'erase'>>, log = services.log) {
  const { streams, blobs, random } = services
  const parts = {
    hide: streams.hide.bind(streams),
    erase: streams.erase.bind(streams),
    erasable: streams.erasable.bind(streams),
    mailbox: streams.mailbox.bind(streams),
    ...replaced,
  } as unknown as Streams
  return new Threads({ log, blobs, random, streams: parts, list: async function* () {} }, async () => ({
    ...{ kind: 'user', id: 'ada' },
  }))
}

test('a held thread is not deleted, and keeps its state', async () => {
  const { keepup, saver } = await opened()
  await saver.put(thread, emptyCheckpoint(), { source: 'loop', step: 1, parents: {} }, {})
  const { streams } = await keepup.listStreams({ prefix: 'thread-' })
  const { hold } = await keepup.setHold({ of: streams[0]!.stream, reason: 'the matter of Smith' })
  await expect(saver.deleteThread('order 42')).rejects.toMatchObject({ code: 'HELD' })
  expect(await saver.getTuple(thread)).toBeDefined()
  await keepup.liftHold({ hold, reason: 'settled' })
  await saver.deleteThread('order 42')
  expect(await saver.getTuple(thread)).toBeUndefined()
})

test('an erased value is stored again when a checkpoint has it again', async () => {
  const { keepup } = await opened()
  const threads = keepup.threads()
  await threads.save('t', one('1', 'same value'))
  await keepup.eraseStream({ stream: 'thread-t', reason: 'asked for' })
  await threads.save('t', one('2', 'same value', 2))
  const found = await threads.get('t', '', '2')
  expect(await found?.value('x', 2)).toEqual({ type: 'json', text: '"same value"' })
})

test('a mailbox decides again on what is left when it meets an erasure during a decision', async () => {
  const { keepup } = await opened()
  const { streams } = keepup.services
  const by = { kind: 'user', id: 'ada' } as const
  const mailbox = streams.mailbox(threadKind, 't')
  mailbox.listen((events) => events.some(({ header }) => header.type === 'erased') && mailbox.forget())
  const save = (id: string, version: number) =>
    mailbox.submit(
      { ...one(id, 'same value', version), kind: 'save', thread: 't' },
      { by, commandId: `request:${id}` },
      { fact: false },
    )
  await save('1', 1)
  await keepup.eraseStream({ stream: 'thread-t', reason: 'asked for' })
  await save('2', 2)
  const found = await keepup.threads().get('t', '', '2')
  expect(await found?.value('x', 2)).toEqual({ type: 'json', text: '"same value"' })
})

test('a deletion erases nothing that was saved after it, and the thread has its name again', async () => {
  const { keepup } = await opened()
  const threads = keepup.threads()
  await threads.save('t', one('1', 'first'))
  const erase: Streams['erase'] = async (...asked) => {
    await threads.save('t', one('2', 'second'))
    return keepup.services.streams.erase(...asked)
  }
  await threadsWith(keepup, { erase }).delete('t')
  const [found, ...more] = await Array.fromAsync(threads.list(undefined))
  expect([found?.thread, found?.id, more]).toEqual(['t', '2', []])
  expect(await found?.value('x', 1)).toEqual({ type: 'json', text: '"second"' })
  const { threads: rows } = await keepup.listThreads()
  expect(rows).toMatchObject([{ thread: 't', checkpoint: '2', deleted_at: null }])
  await threads.delete('t')
  expect((await keepup.listThreads()).threads).toMatchObject([{ thread: null, checkpoint: null }])
  expect(await proveStream(keepup.services, 'thread-t')).toMatchObject({ ok: true, problems: [] })
})

test('a secret in bytes or in a name is refused before anything is recorded', async () => {
  const { keepup } = await opened()
  const hide = async <T extends Json>(value: T) =>
    JSON.parse(JSON.stringify(value).replaceAll('s3cret', '{{secret:KEY}}')) as T
  const threads = threadsWith(keepup, { hide })
  const bytes = { type: 'bytes', base64: Buffer.from('\u0000with s3cret inside').toString('base64') }
  const { values, ...saved } = one('1', 'x')
  const writes = (given: object) => ({
    ...{ namespace: '', checkpoint: '1', task: 'k', path: '', writes: [{ channel: 'x', index: 0, value: bytes }] },
    ...given,
  })
  const plain = [{ channel: 'x', index: 0, value: values[0]!.value }]
  const refused: Record<string, () => Promise<void>> = {
    'bytes of a channel': () => threads.save('t', { ...saved, values: [{ ...values[0]!, value: bytes }] }),
    'bytes of a checkpoint': () => threads.save('t', { ...saved, values, checkpoint: bytes }),
    'bytes of a write': () => threads.write('t', writes({})),
    thread: () => threads.save('t-s3cret', one('1', 'x')),
    namespace: () => threads.save('t', { ...saved, values, namespace: 's3cret' }),
    channel: () => threads.save('t', { ...saved, values: [{ ...values[0]!, channel: 's3cret' }] }),
    task: () => threads.write('t', writes({ writes: plain, task: 's3cret' })),
    path: () => threads.write('t', writes({ writes: plain, path: 's3cret' })),
  }
  for (const [where, save] of Object.entries(refused))
    await expect(save(), where).rejects.toMatchObject({
      code: 'SECRET_IN_REQUEST',
      message: expect.not.stringMatching('s3cret'),
    })
  expect((await keepup.listStreams({ prefix: 'thread-' })).streams).toEqual([])
  await threads.save('t', one('1', 'with s3cret'))
  expect(await (await threads.get('t', '', '1'))?.value('x', 1)).toMatchObject({ text: '"with {{secret:KEY}}"' })
})

test('a checkpoint reads each event once, and a list reads only the checkpoints that it yields', async () => {
  const { keepup } = await opened()
  const { log } = keepup.services
  const read: number[] = []
  const counting = new Proxy(log, {
    get(target, name) {
      if (name !== 'read') return Reflect.get(target, name, target)
      return (...[stream, options]: Parameters<typeof log.read>) => {
        if (options?.limit === 1) read.push(options.from ?? 0)
        return log.read(stream, options)
      }
    },
  })
  const threads = threadsWith(keepup, {}, counting)
  for (const id of ['1', '2', '3', '4']) {
    const { values, ...rest } = one(id, id, Number(id))
    await threads.save('t', { ...rest, values: ['x', 'y'].map((channel) => ({ ...values[0]!, channel })) })
  }
  read.length = 0
  const found = await threads.get('t', '', '4')
  await Promise.all([found?.value('x', 4), found?.value('y', 4), found?.value('y', 1)])
  expect(read).toEqual([4, 1])
  read.length = 0
  expect((await Array.fromAsync(threads.list('t', { before: '3' }))).map(({ id }) => id)).toEqual(['2', '1'])
  expect((await Array.fromAsync(threads.list('t', { id: '3' }))).map(({ id }) => id)).toEqual(['3'])
  expect(read).toEqual([2, 1, 3])
})
