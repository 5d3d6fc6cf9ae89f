import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { proveEvent, verifyProof } from '../../api/operations/proof/heads.ts'
import { ANCHOR_KEEPERS } from '../../api/process/host/anchor-keepers.ts'
import type { AnchorKeeper, SignedHead } from '../../domain/ports/proof.ts'
import { type Anchor, PROOF_ID, type ProofCommand, proof } from '../../domain/proof/kind.ts'
import { LogAnchors } from '../../domain/proof/runtime/anchors.ts'
import { tempFolder } from '../support/folders.ts'
import { standing } from '../support/time/standing-clock.ts'
import { signedLog } from './support.ts'

// What anchors say when they are asked, and what a round does when an anchor contradicts the log.

type World = Awaited<ReturnType<typeof signedLog>>
const by = { kind: 'user', id: 'ann' } as const
let asked = 0
const submit = (world: World, command: ProofCommand) =>
  world.streams.submit(proof, PROOF_ID, command, { by, commandId: `c${asked++}` })

const rounds = ({ signer, streams, store }: World, keepers: Partial<typeof ANCHOR_KEEPERS> = {}) =>
  new LogAnchors({
    ...{ signer, store, streams, clock: standing(), everyMs: null, warn: () => {} },
    keepers: { ...ANCHOR_KEEPERS, ...keepers },
    random: { bytes: (length) => new Uint8Array(length).fill(++asked) },
  })

async function anchored(as: Anchor) {
  const world = await signedLog()
  await world.signer.sign()
  await submit(world, { kind: 'add', anchor: 'place', as })
  for (let n = 0; n < 2; n += 1) {
    await world.write(5)
    expect(await rounds(world).now()).toMatchObject([{ ok: true }])
  }
  return world
}

const verified = ({ log, blobs, store, streams }: World) =>
  verifyProof(
    { log, blobs, streams, proof: { store, keepers: ANCHOR_KEEPERS, signing: () => null } } as Parameters<
      typeof verifyProof
    >[0],
    { outside: true },
  )

const checkpointsIn = (target: string) => readdirSync(join(target, 'example.org_log')).sort()

test('an anchor that holds less than it was left is named', async () => {
  const target = tempFolder()
  await using world = await anchored({ kind: 'folder', target })
  expect(await verified(world)).toMatchObject({ ok: true, unasked: [] })
  rmSync(join(target, 'example.org_log', checkpointsIn(target).at(-1)!))
  expect((await verified(world)).problems).toMatchObject([
    { code: 'ANCHOR', message: expect.stringContaining('it holds only a head of') },
  ])
})

test('a removed anchor is asked as long as it can be read, and named when it cannot', async () => {
  const target = tempFolder()
  await using world = await anchored({ kind: 'folder', target })
  await submit(world, { kind: 'remove', anchor: 'place' })
  expect(await verified(world)).toMatchObject({ ok: true, anchored: expect.any(Number), unasked: [] })
  expect((await verified(world)).anchored).toBeGreaterThan(0)
  rmSync(target, { recursive: true })
  expect(await verified(world)).toMatchObject({
    ...{ ok: true, anchored: 0, problems: [] },
    unasked: [{ anchor: 'place', kind: 'folder', target, why: expect.stringContaining('it was removed: ') }],
  })
})

test('an anchor that was removed and added again owes nothing of before', async () => {
  const target = tempFolder()
  const as = { kind: 'folder', target } as const
  await using world = await anchored(as)
  await submit(world, { kind: 'remove', anchor: 'place' })
  rmSync(join(target, 'example.org_log'), { recursive: true })
  await submit(world, { kind: 'add', anchor: 'place', as })
  expect(await verified(world)).toMatchObject({ ok: true, problems: [], unasked: [{ anchor: 'place' }] })
})

test('a repository answers with what was committed, not with its work tree', { tags: ['git'] }, async () => {
  const target = tempFolder()
  execFileSync('git', ['init', '--quiet', target])
  expect(await ANCHOR_KEEPERS.git.held!({ target }, 'example.org/log')).toEqual([])
  await using world = await anchored({ kind: 'git', target })
  const before = await verified(world)
  expect(before).toMatchObject({ ok: true, problems: [] })
  expect(before.anchored).toBeGreaterThan(0)
  rmSync(join(target, 'example.org_log'), { recursive: true })
  expect(await verified(world)).toEqual(before)
  const git = (...args: string[]) => execFileSync('git', ['-C', target, ...args])
  git('reset', '--quiet', '--hard', 'HEAD~1')
  expect((await verified(world)).problems).toMatchObject([{ message: expect.stringContaining('only a head of') }])
})

/** Removes the heads of more events than the log keeps, and the tree, as who can write the folder could. */
async function forgetHeads(world: World, kept: number) {
  await world.signer.close()
  const db = new DatabaseSync(world.tree)
  db.exec(`DROP TRIGGER heads_no_delete; DELETE FROM heads WHERE size > ${kept}`)
  db.exec('DELETE FROM tree; DELETE FROM hashes; DELETE FROM positions')
  db.close()
  await world.restart({ killed: true })
}

test.each(['folder', 'git'] as const)(
  'a round stops at a %s that holds a later head',
  { tags: ['git'] },
  async (kind) => {
    const target = tempFolder()
    execFileSync('git', ['init', '--quiet', target])
    await using world = await anchored({ kind, target })
    const before = checkpointsIn(target)
    // An older copy of the whole data folder: its heads end with the log.
    await world.restart({ killed: true, cutTo: 5 })
    await forgetHeads(world, 5)
    expect(await rounds(world).now()).toMatchObject([
      { ok: false, message: expect.stringContaining('the log was cut or put back to an older state') },
    ])
    expect((await world.store.failures()).get('anchor:place')?.message).toContain('it holds a head of')
    expect(checkpointsIn(target)).toEqual(before)
    // Later it has more events than the anchor knows.
    await world.write(60)
    expect(await rounds(world).now()).toMatchObject([
      { ok: false, message: expect.stringContaining('the log was written anew') },
    ])
    expect(checkpointsIn(target)).toEqual(before)
  },
)

test('a witness that holds a later head is named; a head that another process left just now is not', async () => {
  await using world = await signedLog()
  await world.write(5)
  await world.signer.sign()
  let holds = 1_000
  const witness: AnchorKeeper = {
    async keep(_, head, __, consistency) {
      await consistency(holds)
      return { checkpoint: head.note, receipt: null }
    },
  }
  await submit(world, { kind: 'add', anchor: 'place', as: { kind: 'witness', target: 'https://w.example', vkey: 'w' } })
  expect(await rounds(world, { witness }).now()).toMatchObject([
    { ok: false, message: expect.stringContaining('it holds a head of 1000 events') },
  ])
  const stale = await world.store.lastHead()
  await world.write(5)
  const latest = await world.signer.sign()
  holds = latest.size
  const { signer } = world
  const heads: (SignedHead | null)[] = [stale]
  const late = { latest: async () => heads.shift() ?? signer.latest(), consistency: signer.consistency.bind(signer) }
  expect(await rounds({ ...world, signer: late as typeof signer }, { witness }).now()).toMatchObject([
    { ok: true, size: latest.size },
  ])
})

test('a proof of an event is verified before it is handed out', async () => {
  await using world = await signedLog()
  await world.write(300)
  const { log, blobs, store, streams, signer } = world
  await signer.sign()
  const s = (own = store) =>
    ({ log, blobs, streams, proof: { store: own, keepers: ANCHOR_KEEPERS, signing: () => null } }) as Parameters<
      typeof proveEvent
    >[0]
  expect(await proveEvent(s(), 'agent-a1', 2)).toMatchObject({ stream: 'agent-a1', revision: 2 })
  const tile: typeof store.tile = async (one) => (await store.tile(one)).fill(1)
  const forged = Object.assign(Object.create(store), {
    ...{ tile, lastHead: () => store.lastHead(), indexOf: (position: number) => store.indexOf(position) },
  })
  await expect(proveEvent(s(forged), 'agent-a1', 2)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
  const lastHead = async () => ({ ...(await store.lastHead())!, note: 'no note' })
  const unsigned = Object.assign(Object.create(store), {
    ...{ lastHead, tile: store.tile.bind(store), indexOf: (position: number) => store.indexOf(position) },
  })
  await expect(proveEvent(s(unsigned), 'agent-a1', 2)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
})
