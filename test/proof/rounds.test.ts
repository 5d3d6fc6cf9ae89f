import { expect, test } from 'vitest'
import { ANCHOR_KEEPERS } from '../../api/process/host/anchor-keepers.ts'
import type { Clock } from '../../domain/ports/index.ts'
import type { AnchorKeeper } from '../../domain/ports/proof.ts'
import { PROOF_ID, type ProofCommand, proof } from '../../domain/proof/kind.ts'
import { LogAnchors } from '../../domain/proof/runtime/anchors.ts'
import type { LogSigner } from '../../domain/proof/runtime/log-signer.ts'
import { signedLog } from './support.ts'

const EVERY_MS = 60_000

const settled = () => new Promise((resolve) => setTimeout(resolve, 100))

/** A clock whose alarms ring when the test says so. */
function ringing() {
  let alarms: { readonly ms: number; readonly ring: () => void }[] = []
  const clock: Clock = {
    now: () => 0,
    sleep: () => new Promise(() => {}),
    alarm(ms, ring) {
      const one = { ms, ring }
      alarms.push(one)
      return () => {
        alarms = alarms.filter((other) => other !== one)
      }
    },
  }
  return {
    clock,
    waiting: () => alarms.map(({ ms }) => ms),
    async ring() {
      const [first] = alarms.splice(0, 1)
      first?.ring()
      await settled()
    },
  }
}

const gone: AnchorKeeper['keep'] = async () => {
  throw new Error('the disk is gone')
}

async function failing(signer: Partial<Pick<LogSigner, 'latest'>> = {}, keep = gone) {
  const world = await signedLog()
  await world.write(3)
  await world.signer.sign()
  const as = { kind: 'folder', target: '/gone' } as const
  await world.streams.submit(
    proof,
    PROOF_ID,
    { kind: 'add', anchor: 'disk', as },
    { by: { kind: 'user', id: 'ann' }, commandId: 'first' },
  )
  const attempts: number[] = []
  const folder: AnchorKeeper = {
    keep(place, head, last, consistency) {
      attempts.push(head.size)
      return keep(place, head, last, consistency)
    },
  }
  const time = ringing()
  let drawn = 0
  const anchors = new LogAnchors({
    ...{ store: world.store, streams: world.streams, clock: time.clock, everyMs: EVERY_MS },
    signer: {
      latest: () => world.signer.latest(),
      consistency: (old, size) => world.signer.consistency(old, size),
      ...signer,
    },
    keepers: { ...ANCHOR_KEEPERS, folder },
    random: { bytes: (length) => new Uint8Array(length).fill(++drawn) },
    warn: () => {},
  })
  return { world, anchors, attempts, ...time }
}

test('a failed round of anchors is tried again by the schedule only', async () => {
  const { world, anchors, attempts, waiting, ring } = await failing()
  await using _ = world
  for (let round = 1; round <= 3; round += 1) {
    expect(waiting()).toEqual([EVERY_MS])
    await ring()
    await world.write(2)
    await settled()
    expect(attempts.length).toBe(round)
  }
  await anchors.close()
})

test('no round of anchors starts after the end, also if the end comes while a round is prepared', async () => {
  const { promise: prepared, resolve: go } = Promise.withResolvers<void>()
  const { world, anchors, attempts, waiting, ring } = await failing({
    latest: async () => {
      await prepared
      return world.store.lastHead()
    },
  })
  await using _ = world
  await ring()
  await anchors.close()
  go()
  await settled()
  expect([attempts, waiting()]).toEqual([[], []])
})

test('no signature starts after the end', async () => {
  await using world = await signedLog()
  await world.write(3)
  await world.signer.close()
  const signed = await world.store.lastHead()
  await world.write(3)
  await settled()
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(await world.store.lastHead()).toEqual(signed)
})

test('a round during which an anchor is added again under its name records nothing for the new place', async () => {
  const { promise: kept, resolve: keep } = Promise.withResolvers<void>()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { world, anchors } = await failing({}, async (_, { note }) => {
    ask()
    await kept
    return { checkpoint: note, receipt: null }
  })
  await using _ = world
  const round = anchors.now()
  await asked
  const commands: ProofCommand[] = [
    { kind: 'remove', anchor: 'disk' },
    { kind: 'add', anchor: 'disk', as: { kind: 'folder', target: '/elsewhere' } },
  ]
  for (const command of commands)
    await world.streams.submit(proof, PROOF_ID, command, { by: { kind: 'user', id: 'ann' }, commandId: command.kind })
  keep()
  expect(await round).toMatchObject([{ ok: false, message: expect.stringContaining('removed and added again') }])
  expect((await world.state()).anchored).toEqual({})
  expect(await anchors.now()).toMatchObject([{ ok: true }])
  await anchors.close()
})
