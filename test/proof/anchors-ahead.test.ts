import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openKeepUp } from '../../api/library/open-keepup.ts'
import { SystemClock } from '../../api/process/host/clock.ts'
import { anchorsAhead } from '../../api/process/host/losses/anchors-ahead.ts'
import { PROOF_ID, proof } from '../../domain/proof/kind.ts'
import { inProcess } from '../api/support/cli.ts'
import { signedLog } from './support.ts'

// A whole data folder is replaced by an older copy: its log, heads, tables and key agree. Only an anchor knows more.

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keepup-older-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))
const data = () => join(root, 'data')
const target = () => join(root, 'elsewhere')

async function write(value: string, { anchor = true } = {}) {
  await using keepup = await openKeepUp({ data: data(), by: 'ann' })
  await keepup.contextStore('review').set('goal', value)
  if (anchor) expect(await keepup.anchorNow()).toMatchObject({ anchors: [{ ok: true }] })
}

async function olderCopy() {
  mkdirSync(target())
  await using keepup = await openKeepUp({ data: data(), by: 'ann' })
  await keepup.contextStore('review').set('goal', 'one')
  await keepup.addAnchor({ anchor: 'disk', kind: 'folder', target: target() })
  await keepup.anchorNow()
  await keepup.close()
  const copy = join(root, 'copy')
  cpSync(data(), copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  await write('two')
  rmSync(data(), { recursive: true })
  renameSync(copy, data())
}

const look = (...args: string[]) => inProcess(['--data', data(), ...args])

test('a start finds that an anchor knows later events; once accepted, it is not told again', async () => {
  await olderCopy()
  await expect(write('three')).rejects.toMatchObject({ code: 'LOG_SHORTENED' })
  const told = await look('repair')
  expect([told.code, told.out]).toEqual([5, expect.stringContaining('but its signed heads have seen position')])
  expect(await look('repair', '--accept-loss', '--yes')).toMatchObject({ code: 0 })
  expect(await look('repair')).toMatchObject({ code: 0 })
  await write('three')
  expect(await look('repair')).toMatchObject({ code: 0 })
  expect(await look('verify', '--anchors')).toMatchObject({ code: 0 })
})

test('an anchor that is away prevents no start', async () => {
  await olderCopy()
  renameSync(target(), join(root, 'unmounted'))
  await write('three', { anchor: false })
})

/** A log that knows an anchor, and a later head of it. */
async function anchoredLog() {
  const world = await signedLog()
  await world.write(3)
  await world.signer.sign()
  const as = { kind: 'folder', target: '/disk' } as const
  const by = { by: { kind: 'user', id: 'ann' }, commandId: 'a' } as const
  await world.streams.submit(proof, PROOF_ID, { kind: 'add', anchor: 'disk', as }, by)
  await world.write(20)
  return { world, head: await world.signer.sign() }
}

type Later = NonNullable<Parameters<typeof anchorsAhead>[0]['keepers']['folder']['later']>

function ahead({ log, store, streams }: Awaited<ReturnType<typeof signedLog>>, later: Later) {
  const keepers = { folder: { later }, git: {}, witness: {}, timestamp: {} }
  return anchorsAhead({ log, store, streams, keepers, clock: new SystemClock() })
}

test('only heads that the present origin signed count, and only where the log ends before them', async () => {
  const { world, head } = await anchoredLog()
  await using _ = world
  const forged = head.note.replace(/\n\d+\n/, '\n9999\n')
  const holding = (...notes: string[]) =>
    async function* () {
      yield* notes
    }
  expect(await ahead(world, holding(head.note))).toBeUndefined()
  await world.restart({ killed: true, cutTo: 10 })
  expect(await ahead(world, holding('half a file', forged, head.note))).toMatchObject({ position: head.size })
  expect(await ahead(world, holding('half a file', forged))).toBeUndefined()
})

test('a log of the same length that was written anew is found', async () => {
  const { world, head } = await anchoredLog()
  await using _ = world
  const holding = async function* () {
    yield head.note
  }
  expect(await ahead(world, holding)).toBeUndefined()
  // Without its stored tree the log itself is read.
  expect(await ahead({ ...world, store: null as never }, holding)).toBeUndefined()
  await world.restart({ killed: true, cutTo: 10 })
  await world.write(40)
  expect((await world.events()).length).toBeGreaterThan(head.size)
  expect(await ahead(world, holding)).toMatchObject({ position: head.size })
})

test('a start does not wait for an anchor that never answers', { timeout: 20_000 }, async () => {
  const { world } = await anchoredLog()
  await using _ = world
  const from = performance.now()
  const never = async function* () {
    await new Promise(() => {})
    yield ''
  }
  expect(await ahead(world, never)).toBeUndefined()
  expect(performance.now() - from).toBeLessThan(10_000)
})
