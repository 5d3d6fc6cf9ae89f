import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { packPolicy } from '../../../api/operations/proof/cosigned.ts'
import { formatVkey } from '../../../domain/log/proof/note.ts'
import { parsePolicy } from '../../../domain/log/proof/policy.ts'
import type { ProofState } from '../../../domain/proof/kind.ts'
import { cosigner } from '../../support/proof-keys.ts'
import { startPython } from '../../support/python.ts'
import { bodyOf, openWorld } from '../support/http.ts'

// Another keepup is the witness of the log.

const witness = await openWorld()
const server = createServer(getRequestListener((request) => witness.http.fetch(request))).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/witness`
afterAll(async () => {
  server.close()
  await witness.close()
})

/** A log with the witness under these names. */
async function witnessed(name: string, anchors: readonly string[]) {
  const keepup = await openKeepUp({ data: join(witness.root, name), by: 'ann' })
  await keepup.contextStore('review').set('goal', 'first')
  await keepup.anchorNow({})
  const { vkey: own } = await keepup.getProofHead()
  const { vkey } = await bodyOf<{ vkey: string }>(
    await witness.ask('POST', '/v1/witness/logs', { body: { vkey: own, by: 'bob' } }),
  )
  for (const anchor of anchors) await keepup.addAnchor({ anchor, kind: 'witness', target, vkey })
  return { keepup, policy: `log ${own}\nwitness w ${vkey}\nquorum w\n`, vkey }
}

const packed = async (keepup: KeepUp, choice = {}) => Buffer.concat(await Array.fromAsync(keepup.pack(choice)))

test('packs and proofs have the cosignatures of the witness, as soon as a cosigned head covers their events', {
  tags: ['python3'],
}, async () => {
  const { keepup, policy } = await witnessed('cosigned', ['w'])
  await using _ = { [Symbol.asyncDispose]: () => keepup.close() }
  const file = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(witness.root, name), content)
    return join(witness.root, name)
  }
  const policyFile = file('policy.txt', policy)
  const store = 'context-review'
  const { run, end } = startPython()
  onTestFinished(end)
  /** Whether both verifiers accept the pack and the proof with the quorum. They must agree. */
  const accepted = async (revision: number, choice = {}) => {
    const pack = await packed(keepup, choice)
    const { ok, size } = await keepup.checkPack(Readable.from([pack]), { policy })
    expect((await keepup.checkPack(Readable.from([pack]))).ok).toBe(true)
    expect((await run(file('all.pack', pack), policyFile)).code === 0).toBe(ok)
    const proof = await keepup.proveEvent({ stream: store, revision: String(revision) })
    const isProved = (await run('proof', file('one.tlog-proof', proof.file), policyFile)).code === 0
    return { pack: ok, proof: isProved, size }
  }
  expect(await accepted(0)).toMatchObject({ pack: false, proof: false })
  const [made] = (await keepup.anchorNow({})).anchors
  expect(await accepted(0)).toEqual({ pack: true, proof: true, size: made!.size })
  const until = new Date().toISOString()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await keepup.contextStore('review').set('goal', 'second')
  const last = (await Array.fromAsync(keepup.services.log.read(store))).flat().at(-1)!.header.revision
  expect(await accepted(last)).toMatchObject({ pack: false, proof: false })
  expect(await accepted(0, { until })).toEqual({ pack: true, proof: true, size: made!.size })
  await keepup.anchorNow({})
  expect(await accepted(last)).toMatchObject({ pack: true, proof: true })
})

test('a pack of the whole log has cosignatures although the request for it is recorded; later facts prevent them', async () => {
  const { keepup, policy } = await witnessed('recorded', ['w'])
  await keepup.setUpAccess({ principal: 'ann', name: 'Ann' })
  const { key } = await keepup.createKey({ principal: 'ann' })
  await keepup.close()
  const asked = await openKeepUp({ data: join(witness.root, 'recorded'), by: 'ann', key })
  await using _ = { [Symbol.asyncDispose]: () => asked.close() }
  const { uses } = asked.services
  const isAccepted = async () => {
    uses.read({ principal: 'ann', operation: 'pack', run: null })
    await uses.record()
    return (await asked.checkPack(Readable.from([await packed(asked)]), { policy })).ok
  }
  await asked.anchorNow({})
  expect(await isAccepted()).toBe(true)
  await asked.addPrincipal({ principal: 'vera', roles: ['viewer'] })
  expect(await isAccepted()).toBe(false)
})

test('a witness is added once, under a name that a policy can have; packs of logs that did otherwise hold', async () => {
  const { keepup, vkey } = await witnessed('names', ['w'])
  await using _ = { [Symbol.asyncDispose]: () => keepup.close() }
  const add = (anchor: string) => keepup.addAnchor({ anchor, kind: 'witness', target, vkey })
  await expect(add('none')).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('choose another name'),
  })
  await expect(add('again')).rejects.toMatchObject({
    code: 'ANCHOR_EXISTS',
    message: expect.stringContaining('the anchor w has this key already'),
  })
  await keepup.addAnchor({ anchor: 'none', kind: 'folder', target: witness.root })
  expect(parsePolicy(packPolicy(state({ none: vkey, again: vkey }))).witnesses).toMatchObject([
    { name: 'none-witness' },
  ])
  const other = formatVkey(cosigner('other').key)
  const names = (anchors: Readonly<Record<string, string>>) =>
    parsePolicy(packPolicy(state(anchors))).witnesses.map(({ name }) => name)
  expect(names({ 'none-witness': other, none: vkey })).toEqual(['none-witness', 'none-witness-witness'])
  const { ok } = await keepup.checkPack(Readable.from([await packed(keepup)]))
  expect(ok).toBe(true)
})

/** The facts about anchors of a log that was written before the names were checked. */
const state = (vkeys: Readonly<Record<string, string>>): ProofState => ({
  ...{ origins: [], losses: 0, additions: {}, anchored: {} },
  anchors: Object.fromEntries(
    Object.entries(vkeys).map(([anchor, vkey]) => [anchor, { kind: 'witness', target, vkey }]),
  ),
})
