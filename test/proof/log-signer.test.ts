import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { SqliteTreeStore } from '../../adapters/sqlite/tree-store.ts'
import { logKeyFile } from '../../adapters/vault/log-key.ts'
import { formatCursor } from '../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { openCheckpoint, parseCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { base64 } from '../../domain/log/proof/encoding.ts'
import { COSIGNATURE, formatVkey, noteSigner, parseVkey, splitNote } from '../../domain/log/proof/note.ts'
import { appendLeaves, eventLeaf } from '../../domain/log/proof/tree.ts'
import { verifyConsistency, verifyInclusion } from '../../domain/log/proof/tree-proof.ts'
import { GENESIS, seal } from '../../domain/log/seal.ts'
import { PROOF_ID, PROOF_STREAM, proof } from '../../domain/proof/kind.ts'
import { LogSigner } from '../../domain/proof/runtime/log-signer.ts'
import { verifyHeads } from '../../domain/proof/runtime/verify-heads.ts'
import { History } from '../support/attacks/history.ts'
import { memoryKeys, memoryTree } from '../support/attacks/memory-tree.ts'
import { erasedBody, Sealer } from '../support/log/sealing.ts'
import { standing } from '../support/time/standing-clock.ts'
import { signedLog, withMethods } from './support.ts'

test('a head covers every event before it, and each event is provably in it', async () => {
  await using world = await signedLog()
  await world.write(300)
  const head = await world.signer.sign()
  const vkeys = (await world.state()).origins.flatMap((one) => one.vkeys)
  const { size, root } = openCheckpoint(head.note, vkeys.map(parseVkey))
  const events = await world.events()
  expect(size).toBe(events.length)
  for (const [index, { hash, position }] of events.entries()) {
    expect(await world.store.indexOf(position)).toBe(index)
    if (index % 37 === 0)
      expect(verifyInclusion(index, size, eventLeaf(hash), await world.signer.inclusion(index, size), root)).toBe(true)
  }
  expect(await world.store.indexOf(events.at(-1)!.position + 1)).toBeNull()
})

test('the heads of one origin are consistent over restarts, rotations and appends in any order', async () => {
  const step = fc.oneof(
    fc.nat({ max: 40 }).map((events) => ({ do: 'write' as const, events })),
    fc.constantFrom(
      { do: 'sign' as const },
      { do: 'restart' as const },
      { do: 'kill' as const },
      { do: 'rotate' as const },
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      await using world = await signedLog()
      for (const one of steps) {
        if (one.do === 'write') await world.write(one.events)
        else if (one.do === 'sign') await world.signer.sign()
        else if (one.do === 'rotate') await world.signer.rotate({ kind: 'user', id: 'ann' })
        else await world.restart({ killed: one.do === 'kill' })
      }
      await world.signer.sign()
      const { origins } = await world.state()
      // A process that dies before the first head of an origin leaves the origin without one.
      expect(origins.length).toBeLessThanOrEqual(1 + steps.filter((one) => one.do === 'kill').length)
      const keys = origins.flatMap(({ vkeys }) => vkeys.map(parseVkey))
      const heads = (await world.store.heads(0, 500)).map(({ note }) => openCheckpoint(note, keys))
      const last = heads.at(-1)!
      for (const { size, root } of heads)
        expect(
          verifyConsistency(size, last.size, root, last.root, await world.signer.consistency(size, last.size)),
        ).toBe(true)
      expect(await world.verify()).toMatchObject({ ok: true, events: last.size, signed: last.size })
    }),
    { numRuns: 15 },
  )
})

test('a long log that was never signed is stored in parts and signed once', async () => {
  await using world = await signedLog()
  await world.write(21_000)
  const folder = mkdtempSync(join(tmpdir(), 'keepup-long-'))
  const events = await world.events()
  const store = new SqliteTreeStore(join(folder, 'tree.db'), 'owner', async (from, to) =>
    events.filter(({ position }) => position >= from && position <= to).map(({ hash }) => hash),
  )
  onTestFinished(() => {
    store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const parts: [leaves: number, signed: boolean][] = []
  const grow = store.grow.bind(store)
  store.grow = (growth) => {
    parts.push([growth.leaves.length, growth.head !== null])
    return grow(growth)
  }
  const { log, streams } = world
  const [random, origin] = [{ bytes: (n: number) => new Uint8Array(n).fill(1) }, 'example.org/log']
  const keys = logKeyFile(join(folder, 'log.key'))
  const ports = { log, store, keys, streams, clock: standing(), random, origin, warn: () => {} }
  const { size } = await new LogSigner({ ...ports, acceptedLosses: async () => 0 }).sign()
  expect(parts.map(([, signed]) => signed)).toEqual([false, false, true])
  for (const [leaves] of parts) expect(leaves).toBeLessThan(11_000)
  expect(await verifyHeads({ log, blobs: world.blobs, store, acceptedLosses: [] })).toMatchObject({
    ok: true,
    signed: size,
    events: size,
  })
})

test('without its key a log begins a new origin, and the old heads still hold', async () => {
  await using world = await signedLog()
  await world.write(10)
  await world.signer.sign()
  await world.restart({ killed: false, loseKey: true })
  await world.write(3)
  await world.signer.sign()
  const { origins } = await world.state()
  expect(origins.map(({ origin }) => origin)).toEqual(['example.org/log', 'example.org/log/2'])
  expect(await world.verify()).toMatchObject({ ok: true, superseded: 0 })
})

test('an origin whose heads are lost ends, because a new head could contradict them', async () => {
  await using world = await signedLog()
  await world.write(10)
  await world.signer.sign()
  await world.restart({ killed: false, loseTree: true, cutTo: 9 })
  await world.signer.sign()
  const { origins } = await world.state()
  expect(origins.map(({ origin }) => origin)).toEqual(['example.org/log/2'])
  await world.restart({ killed: false, loseTree: true })
  await world.signer.sign()
  expect((await world.state()).origins.map(({ origin }) => origin)).toEqual(['example.org/log/2', 'example.org/log/3'])
  expect(await world.verify()).toMatchObject({ ok: true })
})

test('an anchor of a witness counts only with its cosignature, and anchors need the heads of the log', async () => {
  await using world = await signedLog()
  await world.write(10)
  const head = await world.signer.sign()
  const vkey = formatVkey(noteSigner('w.example', new Uint8Array(32).fill(3), COSIGNATURE).key)
  const { origin, size, root } = parseCheckpoint(splitNote(head.note).text)
  const by = { by: { kind: 'user', id: 'ann' }, commandId: 'a' } as const
  const as = { kind: 'witness', target: 'https://w.example', vkey } as const
  await world.streams.submit(proof, PROOF_ID, { kind: 'add', anchor: 'w', as }, by)
  const made = { origin, size, root: base64(root) }
  const record = { kind: 'record', anchor: 'w', addition: 1, head: made, checkpoint: head.note, receipt: null } as const
  await world.streams.submit(proof, PROOF_ID, record, { ...by, commandId: 'b' })
  expect(await world.verify()).toMatchObject({ ok: false, anchored: 0, problems: [{ code: 'ANCHOR' }] })
  await world.restart({ killed: false, loseTree: true })
  expect((await world.verify()).problems.map(({ code }) => code)).toEqual(['ANCHOR', 'HEAD'])
})

test('a log that does not continue its head is not signed until the loss is accepted', async () => {
  await using world = await signedLog()
  await world.write(50)
  const signed = await world.signer.sign()
  await world.restart({ killed: true, cutTo: 20 })
  await world.write(5)
  await expect(world.signer.sign()).rejects.toMatchObject({ code: 'LOG_CUT' })
  expect(await world.verify()).toMatchObject({
    ok: false,
    problems: expect.arrayContaining([expect.objectContaining({ code: 'CUT' })]),
  })
  const { length: kept } = await world.events()
  await world.accept()
  // No origin began yet.
  expect(await world.verify()).toMatchObject({ ok: true, losses: [{ head: { size: signed.size } }] })
  await world.signer.sign()
  expect((await world.state()).origins.at(-1)!.origin).toBe('example.org/log/2')
  const by = { kind: 'user', id: 'ann' }
  const loss = { by, at: '2026-06-01T00:00:00.000Z', reason: 'disk', kept }
  expect(await world.verify()).toMatchObject({
    ok: true,
    losses: [{ ...loss, head: { name: `the head of ${signed.size} events`, size: signed.size } }],
  })
  // What an anchor outside holds counts too.
  expect(await world.verify([{ anchor: 'disk', checkpoint: signed.note }])).toMatchObject({
    ok: true,
    losses: [{ ...loss, head: { name: 'the head that the anchor disk holds', size: signed.size } }],
  })
  // A second cut needs a second acceptance.
  await world.write(10)
  await world.signer.sign()
  await world.restart({ killed: true, cutTo: (await world.events()).length - 5 })
  await expect(world.signer.sign()).rejects.toMatchObject({ code: 'LOG_CUT' })
})

test.each([
  ['its edge is damaged', `UPDATE tree SET edge = x'00'`],
  ['its cursor is damaged', `UPDATE tree SET cursor = 'none'`],
  ['its cursor names an earlier event', 'UPDATE tree SET cursor = $earlier'],
  ['a hash of it was removed', 'DELETE FROM hashes'],
])('a start makes the stored tree again from an intact log, and its heads hold: %s', async (_, sql) => {
  await using world = await signedLog()
  await world.write(300)
  await world.signer.sign()
  const earlier = formatCursor(world.log.cursor((await world.events()).at(-3)!))
  const db = new DatabaseSync(world.tree)
  db.exec(sql.replace('$earlier', `'${earlier}'`))
  db.close()
  await world.restart({ killed: true })
  await world.write(2)
  await world.signer.sign()
  expect(await world.verify()).toMatchObject({ ok: true, problems: [] })
})

test('a start does not sign a leaf after the last head that the log does not have', async () => {
  const history = new History()
  const first = history.process()
  await history.set('a')
  await first.signer.sign()
  await first.signer.close()
  await history.set('a')
  const event = (await history.events()).at(-1)!
  const forged = { position: event.position - 1, hash: 'f'.repeat(64) }
  const { tree, leaves } = history.tree
  const grown = appendLeaves(
    tree!.edge,
    [forged, event].map(({ hash }) => eventLeaf(hash)),
  )
  history.tree.tree = { edge: grown.edge, cursor: history.log.cursor(event) }
  leaves.push(forged, event)
  const { signer } = history.process()
  await signer.sign()
  await signer.close()
  expect(await history.verify()).toMatchObject({ ok: true, problems: [] })
})

/** A log whose stored tree has leaves after its last head. */
async function beyondHead() {
  const history = new History()
  const { signer } = history.process()
  for (const store of ['a', 'b', 'a']) await history.set(store)
  const { size } = await signer.sign()
  for (const store of ['a', 'a']) await history.set(store)
  await signer.sign()
  await signer.close()
  history.tree.heads.pop()
  return { history, size }
}

test('a changed event under the last head does not end the signatures where the stored tree has leaves after it', async () => {
  const { history, size } = await beyondHead()
  const forged = (event: RecordedEvent): RecordedEvent => {
    if (event.header.stream !== 'context-b') return event
    return { ...event, ...seal(GENESIS, { ...event.header, actor: { kind: 'user', id: 'eve' } }, event.body) }
  }
  await history.restoreLog({ events: (await history.events()).map(forged) })
  const { signer } = history.process()
  expect((await signer.sign()).size).toBeGreaterThan(size)
  await signer.close()
  expect((await history.verify()).problems.map((one) => [one.code, one.size])).toContainEqual(['HEAD', size])
})

test('a machine without the key compares the leaves after the last head with the log once', async () => {
  const { history } = await beyondHead()
  let reads = 0
  const log = withMethods(history.log, {
    readAll: (...[after, options]: Parameters<typeof history.log.readAll>) => {
      if (after === null) reads += 1
      return history.log.readAll(after, options)
    },
  })
  const signer = new LogSigner({
    ...{ log, store: memoryTree(history.tree), keys: memoryKeys([]), streams: history.streams },
    ...{ clock: { now: () => 0, sleep: async () => undefined }, random: { bytes: (length) => new Uint8Array(length) } },
    ...{ origin: 'example.org/log', acceptedLosses: async () => 0, shared: true, warn: () => undefined },
  })
  await signer.latest()
  await signer.latest()
  expect(reads).toBe(1)
})

/** A log whose last head has a wrong signature, and five events after it. */
async function damagedHead() {
  const world = await signedLog()
  await world.write(20)
  const { note, size } = await world.signer.sign()
  await world.close(true)
  const db = new DatabaseSync(world.tree)
  db.exec('drop trigger heads_no_update')
  // The root of another tree under the signature of this one.
  const forged = note.replace(/^(.*\n.*\n).{44}/, `$1${base64(new Uint8Array(32))}`)
  db.prepare('update heads set note = ? where size = ?').run(forged, size)
  db.close()
  await world.restart({ killed: true })
  await world.write(5)
  return world
}

test('a last head with a wrong signature is named as damage, and no head follows it until a loss is accepted', async () => {
  await using world = await damagedHead()
  await expect(world.signer.sign()).rejects.toMatchObject({
    code: 'HEAD_DAMAGED',
    message: expect.stringMatching(
      /^the last signed head, of \d+ events of example\.org\/log, was altered.*restore the heads/,
    ),
  })
  expect(await world.store.heads(0, 9)).toHaveLength(1)
  await world.accept()
  await world.signer.sign()
  expect((await world.state()).origins.at(-1)!.origin).toBe('example.org/log/2')
})

test('a damaged head stays superseded if the process ends before the first head of the new origin', async () => {
  await using world = await damagedHead()
  await world.accept()
  world.store.grow = () => Promise.reject(new Error('killed'))
  await expect(world.signer.sign()).rejects.toThrow('killed')
  expect((await world.state()).origins.at(-1)!.origin).toBe('example.org/log/2')
  await world.restart({ killed: true })
  await world.write(1)
  const head = await world.signer.sign()
  expect(head).toMatchObject({
    origin: (await world.state()).origins.at(-1)!.origin,
    size: (await world.events()).length,
  })
})

test('the stored tree stays while the log contradicts its head: a loss is compared with it', async () => {
  await using world = await signedLog()
  await world.write(50)
  await world.signer.sign()
  const stored = await world.store.load()
  await world.restart({ killed: true, cutTo: 20 })
  await expect(world.signer.sign()).rejects.toMatchObject({ code: 'LOG_CUT' })
  expect(await world.store.load()).toEqual(stored)
})

test('an invented loss does not excuse changed events of before it', async () => {
  await using world = await signedLog()
  await world.write(50)
  const { note, size } = await world.signer.sign()
  await world.restart({ killed: true, cutTo: 20 })
  await world.write(60)
  await world.accept()
  await world.signer.sign()
  const { problems, losses } = await world.verify([{ anchor: 'disk', checkpoint: note }])
  expect(problems.map(({ code, size }) => [code, size])).toEqual([
    ['HEAD', size],
    ['HEAD', size],
    ['ANCHOR', size],
  ])
  expect(losses).toMatchObject([{ head: { size } }])
  expect(losses[0]!.kept).toBeGreaterThanOrEqual(size)
})

test('a forged head, a forged anchor and an unsigned new key are named', async () => {
  await using world = await signedLog()
  await world.write(10)
  const head = await world.signer.sign()
  const forged = head.note.replace(/\n(\d+)\n/, (_, size) => `\n${Number(size) - 1}\n`)
  const heads = async (note: string) => {
    const store = withMethods(world.store, {
      heads: async (after: number) => (after === 0 ? [{ ...head, note, number: 1 }] : []),
    })
    return verifyHeads({ log: world.log, blobs: world.blobs, store, acceptedLosses: [] })
  }
  expect(await heads(head.note)).toMatchObject({ ok: true, signed: head.size })
  expect(await heads(forged)).toMatchObject({ ok: false, signed: 0, problems: [{ code: 'HEAD', size: head.size - 1 }] })
  const outside = [{ anchor: 'disk', checkpoint: forged }]
  expect(
    await verifyHeads({ log: world.log, blobs: world.blobs, store: world.store, acceptedLosses: [] }, outside),
  ).toMatchObject({
    ok: false,
    problems: [{ code: 'ANCHOR' }],
  })
})

test.each([
  ['log_key_created', { origin: 'example.org/log/9' }],
  ['log_key_rotated', { vkey: 7 }],
])('a sealed %s of another shape is named', async (type, body) => {
  await using world = await signedLog()
  await world.write(3)
  await world.signer.sign()
  const last = (await world.events()).filter(({ header }) => header.stream === PROOF_STREAM).at(-1)!
  const { revision } = last.header
  const batch = new Sealer('forger').batch(PROOF_STREAM, { revision, hash: last.hash }, [
    { type, body, header: { timestamp: last.header.timestamp } },
  ])
  await world.log.append(PROOF_STREAM, revision, batch)
  expect((await world.verify()).problems).toMatchObject([
    { code: 'KEY', message: expect.stringContaining(`${PROOF_STREAM}@${revision + 1}`) },
  ])
})

test.each([
  ['that is no list', { bodies: 'x' }, 1],
  ['of an event without a revision', { bodies: [{ version: 1, body: {} }] }, 1],
  ['that its event cannot have', { bodies: [{ revision: 0, version: 1, body: { origin: 7 } }] }, 0],
])('a sealed residue %s is named, and verification of its stream goes on', async (_, body, after) => {
  await using world = await signedLog()
  await world.write(3)
  await world.signer.sign()
  const events = (await world.events()).filter(({ header }) => header.stream === PROOF_STREAM)
  const [first, last] = [events[0]!, events.at(-1)!]
  const { revision, timestamp } = last.header
  const forger = new Sealer('forger')
  const batch = forger.batch(PROOF_STREAM, { revision, hash: last.hash }, [
    { type: 'residue', body, header: { timestamp } },
    { type: 'erased', body: erasedBody(first), header: { timestamp } },
  ])
  await world.log.append(PROOF_STREAM, revision, batch)
  const found = await world.streams.verify(PROOF_STREAM)
  expect(found).toMatchObject({ ok: false, events: revision + 3, erased: [{ revision: 0, code: 'other' }] })
  // The residue itself, or the body that it cannot restore.
  const named = after === 0 ? 0 : revision + after
  expect(found.problems.map(({ revision, code }) => [revision, code])).toContainEqual([named, 'SHAPE'])
})
