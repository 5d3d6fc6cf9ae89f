import { describe, expect, onTestFinished, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import type { Json } from '../../domain/log/json.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { context, contextStream } from '../../domain/store/aggregate.ts'
import { ContextStores } from '../../domain/store/runtime/context-stores.ts'
import { ContextStore } from '../../domain/store/runtime/store.ts'
import { StreamVariables } from '../../domain/store/runtime/stream-variables.ts'
import { MAX_VALUE_BYTES } from '../../domain/store/variable.ts'
import { erase } from '../../domain/stream/runtime/erasure/erase.ts'
import type { StreamPorts } from '../../domain/stream/runtime/ports.ts'
import { verifyStream } from '../../domain/stream/runtime/verify.ts'
import { tempFolder } from '../support/folders.ts'
import { MemoryBlobs, MemoryIntents } from '../support/harness.ts'
import { BEFORE } from '../support/log/sealing.ts'
import { standing } from '../support/time/standing-clock.ts'

// CONTRACTS 14, ContextStore: in memory and in the log.

const LOGS = {
  memory: async () => new MemoryLog({ clock: BEFORE }),
  sqlite: () => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE }),
} satisfies Record<string, () => Promise<EventLog>>

async function portsOn(open: () => Promise<EventLog>): Promise<StreamPorts> {
  const log = await open()
  onTestFinished(() => log.close())
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn % 251) }
  return { log, random, clock: standing(Date.UTC(2026, 0, 18)), blobs: new MemoryBlobs(), intents: new MemoryIntents() }
}

const hidden = async (value: Json) => JSON.parse(JSON.stringify(value).replaceAll('s3cret', '<hidden>')) as Json
const storeOn = (ports: StreamPorts, store = 'notes') =>
  new ContextStore(new StreamVariables({ ports, store, by: { kind: 'user', id: 'ann' }, hide: hidden }))

const STORES: readonly [string, () => Promise<ContextStore>][] = [
  ['in memory', async () => new ContextStore()],
  ['on the memory log', async () => storeOn(await portsOn(LOGS.memory))],
]

describe.each(STORES)('a store %s', (_, open) => {
  test('sets, gets, lists and deletes', async () => {
    const store = await open()
    expect(await store.set('b', { n: [1, null, 'ü'] })).toEqual({ key: 'b', type: 'object', bytes: 19 })
    await store.set('a', 'text')
    await store.set('ab', 7)
    await store.set('a', 'täxt')
    expect([await store.get('a'), await store.get('b'), await store.get('ab')]).toEqual([
      'täxt',
      { n: [1, null, 'ü'] },
      7,
    ])
    expect((await store.list()).map(({ key, type, bytes }) => [key, type, bytes])).toEqual([
      ['a', 'string', 5],
      ['ab', 'number', 1],
      ['b', 'object', 19],
    ])
    expect((await store.list('a')).map(({ key }) => key)).toEqual(['a', 'ab'])
    await store.delete('a')
    expect((await store.list()).map(({ key }) => key)).toEqual(['ab', 'b'])
  })

  test('names a key that is not set', async () => {
    const store = await open()
    await store.set('gone', 1)
    await store.delete('gone')
    for (const ask of [store.get('gone'), store.ref('gone'), store.delete('gone'), store.summarize('gone')])
      await expect(ask).rejects.toThrow(/^Variable not found: gone$/)
  })

  test('gives references that carry no value', async () => {
    const store = await open()
    const ref = await store.set('key', 'the value itself')
    expect(JSON.stringify([ref, await store.ref('key'), await store.list()])).not.toContain('value')
  })

  test('keeps its own copy of a value', async () => {
    const store = await open()
    const given = { list: [1] }
    await store.set('key', given)
    given.list.push(2)
    const got = (await store.get('key')) as typeof given
    got.list.push(3)
    expect(await store.get('key')).toEqual({ list: [1] })
  })

  test('summarizes to at most so many tokens, four bytes each, cutting no character', async () => {
    const store = await open()
    await store.set('long', 'ü'.repeat(5_000))
    const summary = await store.summarize('long')
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(2_000)
    expect(summary).toMatch(/^ü{990,}…$/)
    await store.set('object', { b: 1, a: 2 })
    expect(await store.summarize(await store.ref('object'))).toBe('{"a":2,"b":1}')
    expect(await store.summarize('long', 2)).toBe('üü…')
  })

  test.each([
    ['', 1],
    ['a\nb', 1],
    ['a"b', 1],
    ['k'.repeat(257), 1],
    ['undefined', undefined],
    ['function', () => 1],
    ['infinite', Number.POSITIVE_INFINITY],
    ['long', 'x'.repeat(MAX_VALUE_BYTES + 1)],
  ])('refuses what cannot be kept: %s', async (key, value) => {
    const store = await open()
    await expect(store.set(key, value)).rejects.toMatchObject({ code: 'INVALID_VARIABLE' })
    expect(await store.list()).toEqual([])
  })

  test('persists into another store', async () => {
    const [store, other] = [await open(), new ContextStore()]
    await store.set('a', 1)
    await store.set('b', [2])
    await store.persist(other)
    expect([await other.get('a'), await other.get('b')]).toEqual([1, [2]])
  })
})

test('a store in memory cannot be made durable by itself', async () => {
  await expect(new ContextStore().persist()).rejects.toMatchObject({ code: 'NOT_DURABLE' })
})

describe.each(Object.entries(LOGS))('the stream of a store on the %s log', (_, open) => {
  test('gives another process the same, is proved, and names no owner but itself', async () => {
    const ports = await portsOn(open)
    const store = storeOn(ports)
    for (let n = 0; n < 40; n++) await store.set(`k${n % 7}`, { n })
    await store.delete('k3')
    await store.persist()
    const again = storeOn(ports)
    expect(await again.list()).toEqual(await store.list())
    expect(await again.get('k6')).toEqual({ n: 34 })
    expect(await verifyStream(ports, context, contextStream('notes'))).toMatchObject({
      ok: true,
      problems: [],
      unchecked: 0,
    })
    const [first] = await Array.fromAsync(ports.log.read(contextStream('notes'), { limit: 1 }))
    expect(first![0]!.header).toMatchObject({ stream: 'context-notes', type: 'variable_set', minReader: 1 })
    expect(first![0]!.header).not.toHaveProperty('runId')
  })

  test('two writers lose nothing', async () => {
    const ports = await portsOn(open)
    const [a, b] = [storeOn(ports), storeOn(ports)]
    await Promise.all([0, 1, 2, 3].flatMap((n) => [a.set(`a${n}`, n), b.set(`b${n}`, n)]))
    expect((await a.list()).map(({ key }) => key)).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'b2', 'b3'])
  })

  test('holds no secret, and tells the size of what it holds', async () => {
    const ports = await portsOn(open)
    const store = storeOn(ports)
    expect(await store.set('key', 'the s3cret')).toMatchObject({ bytes: Buffer.byteLength('the <hidden>') })
    expect(await store.get('key')).toBe('the <hidden>')
  })

  test('is refused a key that holds a secret', async () => {
    const ports = await portsOn(open)
    const store = storeOn(ports)
    await expect(store.set('the s3cret key', 1)).rejects.toMatchObject({ code: 'INVALID_VARIABLE' })
    expect(await ports.log.head(contextStream('notes'))).toBeNull()
  })

  test('a value that was erased is gone, and may be set again', async () => {
    const ports = await portsOn(open)
    const store = storeOn(ports)
    await store.set('key', 'a person')
    const asker = { by: { kind: 'user', id: 'ann' }, commandId: 'e' } as const
    await erase(ports, context, contextStream('notes'), { all: true, reason: 'asked' }, asker, {
      forget: async () => {},
    })
    expect(await verifyStream(ports, context, contextStream('notes'))).toMatchObject({ ok: true })
    const after = storeOn(ports)
    await expect(after.get('key')).rejects.toThrow('the value of "key" was erased')
    expect((await after.list()).map(({ key }) => key)).toEqual(['key'])
    await after.set('key', 'again')
    expect(await after.get('key')).toBe('again')
  })
})

test('on a log that cannot empty a body nothing is erased', async () => {
  const ports = await portsOn(LOGS.memory)
  const stores = new ContextStores({ ...ports, hide: hidden })
  const by = { kind: 'user', id: 'ann' } as const
  await stores.open('notes', by).set('key', 'a person')
  const log = new Proxy(ports.log, {
    get: (of, name) => (name === 'erases' ? false : Reflect.get(of, name).bind?.(of)),
  })
  const there = new ContextStores({ ...ports, log, hide: hidden })
  await expect(there.erase('notes', 'key', { reason: 'asked' }, { by })).rejects.toMatchObject({
    code: 'ERASE_IMPOSSIBLE',
  })
  expect(await stores.open('notes', by).get('key')).toBe('a person')
})

test.each(['', 'A', 'a b', '../x', `a${'b'.repeat(64)}`])('a store is not named "%s"', async (store) => {
  expect(() => storeOn({} as never, store)).toThrow('the name of a store')
})
