import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LogError } from '../../domain/log/errors.ts'
import { parseCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { base64 } from '../../domain/log/proof/encoding.ts'
import { splitNote } from '../../domain/log/proof/note.ts'
import type { SignedHead } from '../../domain/ports/proof.ts'
import { PROOF_ID, type ProofCommand, proof } from '../../domain/proof/kind.ts'
import { coverageOf, streamCoverage } from '../../domain/proof/runtime/coverage.ts'
import { verifyHeads } from '../../domain/proof/runtime/verify-heads.ts'
import { law } from '../support/laws.ts'
import { signedLog, withMethods } from './support.ts'

type World = Awaited<ReturnType<typeof signedLog>>

const by = { kind: 'user', id: 'ann' } as const
let asked = 0
const submit = (world: World, command: ProofCommand) =>
  world.streams.submit(proof, PROOF_ID, command, { by, commandId: `c${asked++}` })

const addAnchor = (world: World) =>
  submit(world, { kind: 'add', anchor: 'disk', as: { kind: 'folder', target: '/disk' } })

/** Records that the anchor keeps a head. */
function anchored(world: World, { origin, size, note }: SignedHead) {
  const root = base64(parseCheckpoint(splitNote(note).text).root)
  return submit(world, {
    kind: 'record',
    anchor: 'disk',
    addition: 1,
    head: { origin, size, root },
    checkpoint: note,
    receipt: null,
  })
}

const everyStream = ({ log, blobs, store }: World) =>
  verifyHeads({ log, blobs, store, acceptedLosses: [] }, [], { perStream: true })

const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom('sign', 'anchor')), { maxLength: 12 })

test('each stream says how many of its first events the last anchored and the last signed head cover', async () => {
  await law(steps, 30, async (all) => {
    await using world = await signedLog()
    await world.write(3)
    await world.signer.sign()
    await addAnchor(world)
    let kept = 0
    for (const step of all)
      if (typeof step === 'number') await world.write(step)
      else {
        const head = await world.signer.sign()
        if (step === 'sign') continue
        await anchored(world, head)
        kept = head.size
      }
    const signed = (await world.store.lastHead())!.size
    const events = await world.events()
    const count = (stream: string, size: number) =>
      events.slice(0, size).filter(({ header }) => header.stream === stream).length
    const { streams } = await everyStream(world)
    expect(streams!.map(({ stream }) => stream).sort()).toEqual(
      [...new Set(events.map(({ header }) => header.stream))].sort(),
    )
    for (const { stream, proof: found } of streams!) {
      const total = count(stream, events.length)
      expect(found).toEqual(coverageOf(total, count(stream, signed), count(stream, kept)))
      expect(await streamCoverage(world, stream, total)).toEqual({ ...found, fault: null, elsewhere: false })
    }
  })
})

test('a log without heads covers nothing', async () => {
  await using world = await signedLog()
  expect(await streamCoverage(world, 'agent-a1', 0)).toBeNull()
})

test('an event that is not the one in the signed head is named, and covered by nothing', async () => {
  await using world = await signedLog()
  await world.write(9)
  await world.signer.sign()
  const { log, store, streams } = world
  const read: typeof log.read = async function* (stream, options) {
    for await (const page of log.read(stream, options))
      yield stream === 'agent-a2' ? page.map((event) => ({ ...event, hash: 'ab'.repeat(32) })) : page
  }
  const other = withMethods(log, { read })
  expect(await streamCoverage({ log: other, store, streams }, 'agent-a2', 3)).toEqual({
    ...coverageOf(3, 0, 0),
    fault: expect.stringContaining('does not contain revision 2'),
    elsewhere: false,
  })
  expect(await streamCoverage({ log: other, store, streams }, 'agent-a1', 3)).toMatchObject({ fault: null })
})

test('a recorded anchor with another root than the log has covers nothing', async () => {
  await using world = await signedLog()
  await world.write(9)
  const { origin, size, note } = await world.signer.sign()
  await addAnchor(world)
  const head = { origin, size, root: base64(new Uint8Array(32).fill(1)) }
  await submit(world, { kind: 'record', anchor: 'disk', addition: 1, head, checkpoint: note, receipt: null })
  expect(await streamCoverage(world, 'agent-a1', 3)).toMatchObject(coverageOf(3, 3, 0))
})

test('a change of other events is told apart by a head of before it, unless the log lost its end', async () => {
  await using world = await signedLog()
  await world.write(300)
  const { size } = await world.signer.sign()
  await world.write(400)
  await world.signer.sign()
  const db = new DatabaseSync(world.tree)
  db.exec('update hashes set hash = zeroblob(32) where number = 1')
  db.close()
  const { log, store, streams } = world
  expect(await streamCoverage(world, 'agent-a1', 80)).toEqual({
    ...coverageOf(80, 80, 0),
    fault: expect.stringContaining(`not at these events, which the head of ${size} events contains`),
    elsewhere: true,
  })
  const here = { ...coverageOf(233, 0, 0), fault: expect.stringContaining('does not contain'), elsewhere: false }
  expect(await streamCoverage(world, 'agent-a1', 233)).toEqual(here)
  const readAll: typeof log.readAll = (from, options) => {
    if (from === null) return log.readAll(from, options)
    throw new LogError('CURSOR_MISMATCH', 'the log was cut')
  }
  const cut = withMethods(log, { readAll })
  expect(await streamCoverage({ log: cut, store, streams }, 'agent-a1', 80)).toMatchObject({
    ...coverageOf(80, 0, 0),
    elsewhere: false,
  })
})

test('the proof of a stream names a damaged stored tree, and says how to mend it, when the log is intact', async () => {
  await using world = await signedLog()
  await world.write(700)
  await world.signer.sign()
  const db = new DatabaseSync(world.tree)
  db.exec('update hashes set hash = zeroblob(32) where number = 0')
  db.close()
  const { fault } = (await streamCoverage(world, 'agent-a1', 233))!
  expect(fault).toContain('the stored tree was changed, and the log was not: run "keepup call rebuildProofTree"')
  await world.signer.rebuild()
  expect(await streamCoverage(world, 'agent-a1', 233)).toMatchObject({ fault: null, signed: { events: 233 } })
})

test.each([
  ['hash', 'update hashes set hash = zeroblob(32) where number = 1', 'the stored hash 1 of level 1'],
  ['hash that is gone', 'delete from hashes where number = 0', 'the stored hash 0 of level 1'],
  ['last hash that is gone', 'delete from hashes where number = 1', 'the stored hash 1 of level 1'],
  ['position', 'update positions set position = position + 1', 'the stored position of leaf 0'],
  ['position too many', 'insert into positions(leaf, position) values (300, 9000)', 'the stored position of leaf 300'],
  ['list of positions', 'delete from positions', 'the stored position of leaf 0'],
  [
    'edge',
    "update tree set edge = unhex(hex(substr(edge, 1, length(edge) - 1)) || 'ff')",
    'the stored edge of the tree',
  ],
  ['edge that is gone', 'delete from tree', 'no tree is stored'],
  ['edge of another form', "update tree set edge = x'00'", 'the stored edge of the tree'],
])('an edited %s of the stored tree is named', async (_, edit, says) => {
  await using world = await signedLog()
  await world.write(700)
  await world.signer.sign()
  expect(await world.verify()).toMatchObject({ ok: true })
  const db = new DatabaseSync(world.tree)
  db.exec(edit)
  db.close()
  const fault = { code: 'TREE', size: null, message: expect.stringContaining(says) }
  expect((await world.verify()).problems).toContainEqual(fault)
  await world.signer.rebuild()
  expect((await world.verify()).problems).toEqual([])
  const last = (await world.events()).at(-1)!
  expect(await world.store.indexOf(last.position)).toBe((await world.verify()).events - 1)
})
