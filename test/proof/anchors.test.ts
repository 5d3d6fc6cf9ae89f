import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ANCHOR_KEEPERS } from '../../api/process/host/anchor-keepers.ts'
import { openCheckpoint, parseCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { COSIGNATURE, formatVkey, noteSigner, parseVkey, splitNote } from '../../domain/log/proof/note.ts'
import { TIMESTAMP_REPLY } from '../../domain/log/proof/timestamp.ts'
import { decideWitness, parseWitnessRequest, type WitnessedLog, witnessAnswer } from '../../domain/log/proof/witness.ts'
import { unsalted } from '../../domain/log/seal.ts'
import type { Anchor } from '../../domain/proof/kind.ts'
import { PROOF_ID, proof } from '../../domain/proof/kind.ts'
import { LogAnchors } from '../../domain/proof/runtime/anchors.ts'
import { verifyHeads } from '../../domain/proof/runtime/verify-heads.ts'
import { standing } from '../support/time/standing-clock.ts'
import { signedLog } from './support.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'keepup-anchor-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function anchored(world: Awaited<ReturnType<typeof signedLog>>, anchors: Readonly<Record<string, Anchor>>) {
  const warnings: string[] = []
  const { signer, streams, store } = world
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn) }
  const all = new LogAnchors({
    ...{ signer, store, streams, keepers: ANCHOR_KEEPERS, clock: standing(), random, everyMs: null },
    warn: (said) => void warnings.push(said),
  })
  await signer.sign()
  for (const [anchor, as] of Object.entries(anchors))
    await streams.submit(proof, PROOF_ID, { kind: 'add', anchor, as }, { by: BY, commandId: `add:${anchor}` })
  return all
}
const BY = { kind: 'user', id: 'ann' } as const

const sizeOf = (note: string) => parseCheckpoint(splitNote(note).text).size

test('a folder keeps every head, and refuses another head of the same size', async () => {
  await using world = await signedLog()
  const target = folder()
  const anchors = await anchored(world, { disk: { kind: 'folder', target } })
  await world.write(5)
  expect(await anchors.now()).toMatchObject([{ anchor: 'disk', ok: true }])
  await world.write(5)
  expect(await anchors.now()).toMatchObject([{ ok: true }])
  const held = await ANCHOR_KEEPERS.folder.held!({ target }, 'example.org/log')
  expect(held.length).toBe(2)
  const outside = held.map((checkpoint) => ({ anchor: 'disk', checkpoint }))
  expect(await world.verify(outside)).toMatchObject({ ok: true, anchored: sizeOf(held[1]!) })
  const { length } = await world.events()
  const other = held[0]!.replace(/\n\d+\n/, `\n${length}\n`)
  writeFileSync(join(target, 'example.org_log', `${String(length).padStart(12, '0')}.checkpoint`), other)
  expect(await anchors.now()).toMatchObject([{ ok: false, message: expect.stringContaining('holds another head') }])
  expect((await world.store.failures()).get('anchor:disk')?.message).toContain('holds another head')
})

test('a folder completes a file that a killed process left, and a folder that is gone answers nothing', async () => {
  await using world = await signedLog()
  const target = folder()
  const anchors = await anchored(world, { disk: { kind: 'folder', target } })
  const { note, size } = await world.signer.sign()
  const file = join(target, 'example.org_log', `${String(size).padStart(12, '0')}.checkpoint`)
  mkdirSync(join(target, 'example.org_log'))
  writeFileSync(file, note.slice(0, 30))
  expect(await anchors.now()).toMatchObject([{ ok: true, size }])
  expect(readFileSync(file, 'utf8')).toBe(note)
  await expect(ANCHOR_KEEPERS.folder.held!({ target: join(target, 'gone') }, 'example.org/log')).rejects.toThrow(
    'mount its disk',
  )
})

test('a log that was rewritten since an anchor differs from what the anchor holds', async () => {
  await using world = await signedLog()
  const target = folder()
  const anchors = await anchored(world, { disk: { kind: 'folder', target } })
  await world.write(20)
  await anchors.now()
  const held = await ANCHOR_KEEPERS.folder.held!({ target }, 'example.org/log')
  const outside = held.map((checkpoint) => ({ anchor: 'disk', checkpoint }))
  // A forger cuts the log, writes other events, and removes the heads that were signed here.
  await world.restart({ killed: true, cutTo: 12 })
  await world.write(30)
  const forged = await verifyHeads({ log: world.log, blobs: world.blobs, store: null, acceptedLosses: [] }, outside)
  expect(forged).toMatchObject({ ok: false, anchored: 0, problems: [{ code: 'ANCHOR' }] })
})

test('a repository gets a commit for each head', { tags: ['git'] }, async () => {
  await using world = await signedLog()
  const target = folder()
  execFileSync('git', ['init', '--quiet', target])
  const anchors = await anchored(world, { repo: { kind: 'git', target } })
  for (let round = 0; round < 2; round += 1) {
    await world.write(3)
    expect(await anchors.now()).toMatchObject([{ anchor: 'repo', ok: true }])
  }
  const commits = execFileSync('git', ['-C', target, 'log', '--format=%s'], { encoding: 'utf8' }).trim().split('\n')
  expect(commits).toEqual([expect.stringMatching(/^Checkpoint of \d+ events/), expect.stringMatching(/^Checkpoint/)])
  expect(execFileSync('git', ['-C', target, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('')
})

test('a witness cosigns heads that continue each other, and refuses a log that was cut', async () => {
  await using world = await signedLog()
  await world.signer.sign()
  const keys = (await world.state()).origins[0]!.vkeys.map(parseVkey)
  const cosigner = noteSigner('witness.example', new Uint8Array(32).fill(9), COSIGNATURE)
  let known: WitnessedLog = { keys, last: null }
  const target = await served(async (request, response) => {
    const decision = decideWitness(parseWitnessRequest(await text(request)), known)
    if (decision.status === 200) known = { keys, last: decision.checkpoint }
    const { status, mediaType, body } = witnessAnswer(decision, cosigner, 1_780_000_000)
    response.writeHead(status, { 'content-type': mediaType }).end(body)
  })
  const anchors = await anchored(world, { other: { kind: 'witness', target, vkey: formatVkey(cosigner.key) } })
  for (let round = 0; round < 3; round += 1) {
    await world.write(7)
    expect(await anchors.now()).toMatchObject([{ anchor: 'other', ok: true }])
  }
  const made = (await world.events()).filter(({ header }) => header.type === 'anchor_made').at(-1)!
  const { checkpoint } = JSON.parse(Buffer.from(unsalted(made.body!)).toString('utf8'))
  expect(openCheckpoint(checkpoint, keys, [cosigner.key]).signatures.length).toBe(2)
  known = { keys, last: { size: known.last!.size, root: new Uint8Array(32) } }
  expect(await anchors.now()).toMatchObject([{ ok: false, message: expect.stringContaining('refuses the head: 422') }])
})

test('a time stamp is kept as the receipt; an anchor that fails does not keep the others from theirs', async () => {
  await using world = await signedLog()
  const target = await served(async (request, response) => {
    const asked = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
    // A granted status, then the hash and the nonce of the request as the token.
    const token = asked.subarray(5, asked.length - 3)
    const status = Buffer.from('3003020100', 'hex')
    const answer = Buffer.concat([Buffer.of(0x30, status.length + token.length), status, token])
    response.writeHead(200, { 'content-type': TIMESTAMP_REPLY }).end(answer)
  })
  const anchors = await anchored(world, {
    gone: { kind: 'witness', target: 'http://127.0.0.1:1', vkey: 'w+00000000+BA==' },
    stamps: { kind: 'timestamp', target },
    unmounted: { kind: 'folder', target: join(folder(), 'gone') },
  })
  expect(await anchors.now()).toMatchObject([
    { anchor: 'gone', ok: false },
    { anchor: 'stamps', ok: true },
    { anchor: 'unmounted', ok: false, message: expect.stringContaining('create it, or mount its disk') },
  ])
  const made = (await world.events()).filter(({ header }) => header.type === 'anchor_made')
  expect(made.length).toBe(1)
  expect(JSON.parse(Buffer.from(unsalted(made[0]!.body!)).toString('utf8')).receipt).toMatch(/^MEMw/)
})
