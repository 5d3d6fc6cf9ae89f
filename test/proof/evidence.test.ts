import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { parseCheckpoint, signCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { base64 } from '../../domain/log/proof/encoding.ts'
import {
  COSIGNATURE,
  ED25519,
  formatNote,
  formatVkey,
  noteSigner,
  signatureLine,
  splitNote,
} from '../../domain/log/proof/note.ts'
import type { SignedHead } from '../../domain/ports/proof.ts'
import { type Anchor, PROOF_ID, type ProofCommand, proof } from '../../domain/proof/kind.ts'
import { streamCoverage } from '../../domain/proof/runtime/coverage.ts'
import { verifyHeads } from '../../domain/proof/runtime/verify-heads.ts'
import { signedLog } from './support.ts'

// Who has the log and its key can write every fact in it. Only evidence from elsewhere says more.

type World = Awaited<ReturnType<typeof signedLog>>
const by = { kind: 'user', id: 'ann' } as const
let asked = 0
const submit = (world: World, command: ProofCommand) =>
  world.streams.submit(proof, PROOF_ID, command, { by, commandId: `c${asked++}` })

async function record(world: World, as: Anchor, { origin, size, note }: SignedHead, checkpoint = note) {
  const { root } = parseCheckpoint(splitNote(note).text)
  await submit(world, { kind: 'add', anchor: 'place', as })
  const head = { origin, size, root: base64(root) }
  await submit(world, { kind: 'record', anchor: 'place', addition: 1, head, checkpoint, receipt: null })
}

const verified = ({ log, blobs, store }: World, wishes: Parameters<typeof verifyHeads>[2]) =>
  verifyHeads({ log, blobs, store, acceptedLosses: [] }, [], wishes)

test.each(['folder', 'git', 'timestamp'] as const)('an anchor of kind %s counts when it is asked', async (kind) => {
  await using world = await signedLog()
  await world.write(9)
  const head = await world.signer.sign()
  await record(world, { kind, target: '/disk' }, head)
  expect(await world.verify()).toMatchObject({ ok: true, anchored: 0, recorded: head.size })
  expect(await streamCoverage(world, 'agent-a1', 3)).toMatchObject({ anchored: { events: 0 }, recorded: { events: 3 } })
  const held = [{ anchor: 'place', checkpoint: head.note }]
  expect(await world.verify(held)).toMatchObject({ ok: true, anchored: head.size, recorded: head.size })
})

test('a cosignature of a witness counts, because the owner of the log cannot make it', async () => {
  await using world = await signedLog()
  await world.write(9)
  const head = await world.signer.sign()
  const witness = noteSigner('w.example', new Uint8Array(32).fill(3), COSIGNATURE)
  const { text, lines } = splitNote(head.note)
  const cosigned = formatNote(text, [...lines, signatureLine(witness, text, 1_780_000_000)])
  const as = { kind: 'witness', target: 'https://w.example', vkey: formatVkey(witness.key) } as const
  await record(world, as, head, cosigned)
  // The last fact about the witness is not among the last ones read at once.
  for (let n = 0; n < 60; n += 1)
    await submit(world, { kind: 'add', anchor: `a${n}`, as: { kind: 'folder', target: '/disk' } })
  expect(await world.verify()).toMatchObject({ ok: true, anchored: head.size, recorded: head.size })
  expect(await streamCoverage(world, 'agent-a1', 3)).toMatchObject({ anchored: { events: 3 }, recorded: { events: 0 } })
})

test('a note of another form than a cosignature does not count', async () => {
  await using world = await signedLog()
  await world.write(9)
  const head = await world.signer.sign()
  const vkey = formatVkey(noteSigner('w.example', new Uint8Array(32).fill(3), COSIGNATURE).key)
  await record(world, { kind: 'witness', target: 'https://w.example', vkey }, head)
  expect(await streamCoverage(world, 'agent-a1', 3)).toMatchObject({ anchored: { events: 0 }, recorded: { events: 3 } })
})

test('an anchored head that contradicts the log is a fault of the proof of each stream', async () => {
  await using world = await signedLog()
  await world.write(9)
  const head = await world.signer.sign()
  await submit(world, { kind: 'add', anchor: 'place', as: { kind: 'folder', target: '/disk' } })
  const other = { origin: head.origin, size: head.size, root: base64(new Uint8Array(32).fill(1)) }
  await submit(world, {
    kind: 'record',
    anchor: 'place',
    addition: 1,
    head: other,
    checkpoint: head.note,
    receipt: null,
  })
  await world.signer.sign()
  expect(await streamCoverage(world, 'agent-a1', 3)).toMatchObject({
    fault: expect.stringContaining('the anchor place keeps contradicts the log'),
    elsewhere: false,
  })
})

test('a checkpoint that somebody kept shows a rewrite with the same key that nothing in the log shows', async () => {
  await using world = await signedLog()
  await world.write(12)
  const { note: checkpoint, size, origin } = await world.signer.sign()
  await world.write(5)
  await world.signer.sign()
  const vkeys = (await world.state()).origins[0]!.vkeys
  for (const wishes of [{ checkpoint }, { checkpoint, vkeys }])
    expect(await verified(world, wishes)).toMatchObject({ ok: true, checkpoint: { ok: true, origin, size } })
  // The end is cut, and with it the heads that contradict and the tree.
  await world.restart({ killed: true, cutTo: 8 })
  const db = new DatabaseSync(world.tree)
  db.exec('DROP TRIGGER heads_no_delete; DELETE FROM tree; DELETE FROM hashes; DELETE FROM positions')
  db.exec('DELETE FROM heads WHERE number > (SELECT min(number) FROM heads)')
  db.close()
  expect((await verified(world, { checkpoint })).problems.map(({ code }) => code)).toContain('CHECKPOINT')
  expect(await verified(world, { checkpoint })).toMatchObject({ ok: false, checkpoint: { ok: false, origin, size } })
})

test('a checkpoint with another root, of another log, or of another key is named', async () => {
  await using world = await signedLog()
  await world.write(12)
  const { size } = await world.signer.sign()
  const forged = (name: string) => {
    const signer = noteSigner(name, new Uint8Array(32).fill(5), ED25519)
    const checkpoint = signCheckpoint({ origin: name, size, root: new Uint8Array(32).fill(1) }, signer)
    return { checkpoint, vkeys: [formatVkey(signer.key)] }
  }
  const same = forged('example.org/log')
  const found = await verified(world, same)
  expect(found).toMatchObject({ ok: false, checkpoint: { ok: false } })
  expect(found.problems.map(({ code, message }) => [code, message])).toEqual([
    ['KEY', expect.stringContaining('never signed with example.org/log+')],
    ['CHECKPOINT', expect.stringContaining('does not match the log')],
  ])
  expect((await verified(world, { checkpoint: same.checkpoint })).problems).toMatchObject([{ code: 'CHECKPOINT' }])
  const other = await verified(world, forged('example.org/other'))
  expect(other.problems.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('the log never had the name example.org/other'),
  )
})

test('a removed head is named by the gap that it leaves', async () => {
  await using world = await signedLog()
  for (let n = 0; n < 4; n += 1) {
    await world.write(3)
    await world.signer.sign()
  }
  expect(await world.verify()).toMatchObject({ ok: true })
  const db = new DatabaseSync(world.tree)
  db.exec('DROP TRIGGER heads_no_delete; DELETE FROM heads WHERE number = 2')
  db.close()
  expect((await world.verify()).problems).toEqual([
    { code: 'HEAD', size: null, message: expect.stringContaining('the head number 2 is missing') },
  ])
})

test('a head of another size than its note is named', async () => {
  await using world = await signedLog()
  await world.write(3)
  const { size } = await world.signer.sign()
  const db = new DatabaseSync(world.tree)
  db.exec('DROP TRIGGER heads_no_update; UPDATE heads SET size = size - 1')
  db.close()
  expect((await world.verify()).problems).toEqual([
    { code: 'HEAD', size: size - 1, message: `the head of ${size - 1} events: its note covers ${size} events` },
  ])
})

test('the beginning of each origin is told, and the head after which it began is compared', async () => {
  await using world = await signedLog()
  await world.write(6)
  await world.signer.sign()
  await world.restart({ killed: false, loseKey: true })
  await world.write(3)
  await world.signer.sign()
  expect(await world.verify()).toMatchObject({
    ok: true,
    origins: [
      { origin: 'example.org/log', reason: 'first' },
      { origin: 'example.org/log/2', reason: 'key_lost', at: expect.stringMatching(/Z$/) },
    ],
  })
  const state = await world.state()
  const after = { origin: 'example.org/log/2', size: 3, root: base64(new Uint8Array(32).fill(1)) }
  const key = noteSigner('example.org/log/3', new Uint8Array(32).fill(5), ED25519).key
  const command = { kind: 'begin', current: state.origins.at(-1)!.origin, origin: key.name } as const
  await submit(world, { ...command, vkey: formatVkey(key), reason: 'first', after })
  expect((await world.verify()).problems.map(({ code, message }) => [code, message])).toEqual([
    ['KEY', expect.stringContaining('example.org/log/3 began as the first name')],
    ['HEAD', expect.stringContaining('the head after which example.org/log/3 began does not match')],
  ])
})

test('an erased fact about keys and anchors is named', async () => {
  await using world = await signedLog()
  await world.write(3)
  await record(world, { kind: 'folder', target: '/disk' }, await world.signer.sign())
  const { log, blobs, store } = world
  const read: typeof log.read = async function* (...given) {
    for await (const page of log.read(...given))
      yield page.map((event) =>
        event.header.type === 'anchor_made' ? { ...event, body: null, erased: true as const } : event,
      )
  }
  const erased = new Proxy(log, {
    get(target, name) {
      const found = Reflect.get(target, name)
      return name === 'read' ? read : typeof found === 'function' ? found.bind(target) : found
    },
  })
  const { problems } = await verifyHeads({ log: erased, blobs, store, acceptedLosses: [] })
  expect(problems).toMatchObject([{ code: 'KEY', message: expect.stringMatching(/^proof-log@2: .*erased/) }])
})
