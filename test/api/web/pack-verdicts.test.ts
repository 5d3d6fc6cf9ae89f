import { createPrivateKey, createPublicKey, hash, verify as opensslVerify, sign } from 'node:crypto'
import { join, resolve } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { Point } from '@noble/ed25519'
import fc from 'fast-check'
import { build, type Rolldown } from 'vite'
import { beforeAll, expect, test } from 'vitest'
import { checkPack } from '../../../api/operations/pack/check-pack.ts'
import type { ToCheck, Told } from '../../../api/web/pack/check.ts'
import { verify } from '../../../api/web/pack/node-crypto.ts'
import config from '../../../api/web/vite.config.ts'
import { anyPack } from '../../support/forged-packs.ts'
import { tarOf } from '../../support/packs.ts'
import { property } from '../../support/property.ts'

const web = resolve(import.meta.dirname, '../../../api/web')

/** Asks the page's worker about a pack. */
let ask: (asked: ToCheck) => Promise<Told>

// The worker runs as the page's build makes it, in a context that has nothing of Node.
beforeAll(async () => {
  const output = { format: 'iife' } as const
  const input = join(web, 'pack/pack-worker.ts')
  const built = (await build({
    ...{ ...config, configFile: false, logLevel: 'error' },
    build: { ...config.build, write: false, rolldownOptions: { input, output } },
  })) as Rolldown.RolldownOutput
  let hear = (_: { data: ToCheck }) => {}
  let tell = (_: Told) => {}
  const globals = {
    ...{ TextDecoder, TextEncoder },
    addEventListener: (_: string, listener: typeof hear) => {
      hear = listener
    },
    postMessage: (told: Told) => tell(told),
  }
  runInContext(built.output[0].code, createContext(globals))
  ask = (asked) =>
    new Promise((answer) => {
      tell = (told) => 'read' in told || answer(JSON.parse(JSON.stringify(told)))
      hear({ data: asked })
    })
}, 60_000)

test('the page and keepup pack --check give the same verdict about each pack, honest or forged', {
  timeout: 120_000,
}, async () => {
  const seen = new Set<boolean>()
  await fc.assert(
    fc.asyncProperty(anyPack, async ({ pack }) => {
      const found = { ...(await checkPack(tarOf(pack))), story: null }
      const file = new Blob(await Array.fromAsync(tarOf(pack)))
      expect(await ask({ file, vkey: null })).toEqual({ found })
      seen.add(found.ok)
    }),
    property(200),
  )
  expect(seen.size).toBe(2)
})

test.each(['null', '1', '[]', '{}', '{"header":null}', '{"header":{"body":1}}', '{"absent":1,"header":{}}', 'no JSON'])(
  'a line that is no event, %s, is named in the same words',
  async (line) => {
    const { pack } = fc.sample(
      anyPack.filter(({ change }) => change === 'honest'),
      { numRuns: 1, seed: 1 },
    )[0]!
    const forged = { ...pack, 'events.ndjson': `${pack['events.ndjson']}${line}\n` }
    const found = { ...(await checkPack(tarOf(forged))), story: null }
    expect(await ask({ file: new Blob(await Array.fromAsync(tarOf(forged))), vkey: null })).toEqual({ found })
    expect(found.problems[0]!.message).toMatch(/pack it again|canonical JSON/)
  },
)

test('a key is compared, and a text that is no key is named as such', async () => {
  const honest = anyPack.filter(({ change }) => change === 'honest')
  const { pack } = fc.sample(honest, { numRuns: 1, seed: 1 })[0]!
  const file = new Blob(await Array.fromAsync(tarOf(pack)))
  const vkey = /log (\S+)/.exec(pack['policy.txt']!)![1]!
  expect(await ask({ file, vkey })).toMatchObject({ found: { ok: true, vkeys: [vkey] } })
  expect(await ask({ file, vkey: 'log.example' })).toEqual({ fault: expect.stringContaining('not a verifier key') })
  expect(await ask({ file: new Blob(['no tar'.repeat(100)]), vkey })).toEqual({
    fault: expect.stringContaining('not a tar file'),
  })
})

const SPKI = Buffer.from('302a300506032b6570032100', 'hex')
const keyOf = (bytes: Uint8Array) => ({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' }) as const

/** Points of small order, in canonical and other encodings. */
const SMALL = [
  '01'.padEnd(64, '0'),
  '00'.repeat(32),
  `${'00'.repeat(31)}80`,
  `01${'00'.repeat(30)}80`,
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(31)}`,
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
].map((hex) => Buffer.from(hex, 'hex'))

const little = (n: bigint) => Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse()

/** A signature with this R and the secret and nonce as numbers, for a key with or without a part of small order. */
function signatureOf(secret: bigint, nonce: bigint, key: Uint8Array, r: Uint8Array, text: Uint8Array): Buffer {
  const challenge = hash('sha512', Buffer.concat([r, key, text]), 'buffer')
    .reverse()
    .toString('hex')
  const s = (nonce + BigInt(`0x${challenge}`) * secret) % Point.CURVE().n
  return Buffer.concat([r, little(s)])
}

test('signatures of Ed25519 are valid in the page exactly when they are for OpenSSL', () => {
  const agree = (key: Uint8Array, text: Uint8Array, signature: Uint8Array) => {
    const expected = opensslVerify(null, text, createPublicKey(keyOf(key)), signature)
    expect([verify(null, text, key, signature), key, signature]).toEqual([expected, key, signature])
    return expected
  }
  const [secret, nonce] = [123_456_789_123n, 987_654_321n]
  const honest = Point.BASE.multiply(secret)
  const r = Point.BASE.multiply(nonce).toBytes()
  let valid = 0
  for (const text of ['', 'a', 'b', 'c', 'd', 'e', 'f', 'g'].map((one) => Buffer.from(one))) {
    for (const small of SMALL) {
      for (const other of SMALL) agree(small, text, Buffer.concat([other, Buffer.alloc(32)]))
      agree(honest.toBytes(), text, signatureOf(secret, 0n, honest.toBytes(), small, text))
      const mixed = honest.add(Point.fromBytes(small, true)).toBytes()
      if (agree(mixed, text, signatureOf(secret, nonce, mixed, r, text))) valid += 1
    }
  }
  expect(valid).toBeGreaterThan(8)
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(
    fc.property(bytes, fc.uint8Array(), fc.nat(3), fc.nat(511), (seed, text, change, bit) => {
      const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
      const own = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
      const key = createPublicKey(own).export({ format: 'der', type: 'spki' }).subarray(-32)
      const signature = sign(null, text, own)
      expect(agree(key, text, signature)).toBe(true)
      if (change === 1) signature[bit >> 3]! ^= 1 << (bit & 7)
      if (change === 2) key[(bit >> 3) % 32]! ^= 1 << (bit & 7)
      agree(key, change === 3 ? Buffer.concat([text, text, Buffer.of(bit % 256)]) : text, signature)
    }),
    property(100),
  )
})
