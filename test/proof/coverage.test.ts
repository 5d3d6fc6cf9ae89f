import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { base64 } from '../../domain/log/proof/encoding.ts'
import { splitNote } from '../../domain/log/proof/note.ts'
import type { SignedHead } from '../../domain/ports/proof.ts'
import { PROOF_ID, type ProofCommand, proof } from '../../domain/proof/kind.ts'
import { coverageOf, streamCoverage } from '../../domain/proof/runtime/coverage.ts'
import { verifyHeads } from '../../domain/proof/runtime/verify-heads.ts'
import { law } from '../support/laws.ts'
import { signedLog } from './support.ts'

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
    head: { origin, size, root },
    checkpoint: note,
    receipt: null,
  })
}

const everyStream = ({ log, blobs, store }: World) => verifyHeads({ log, blobs, store, acceptedLosses: [] }, [], true)

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
      expect(await streamCoverage(world, stream, total)).toEqual({ ...found, fault: null })
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
  const other = new Proxy(log, { get: (target, name) => (name === 'read' ? read : Reflect.get(target, name)) })
  expect(await streamCoverage({ log: other, store, streams }, 'agent-a2', 3)).toEqual({
    ...coverageOf(3, 0, 0),
    fault: expect.stringContaining('does not contain revision 2'),
  })
  expect(await streamCoverage({ log: other, store, streams }, 'agent-a1', 3)).toMatchObject({ fault: null })
})
