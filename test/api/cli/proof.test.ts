import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { COSIGNATURE, ED25519, formatVkey, noteSigner, parseVkey } from '../../../domain/log/proof/note.ts'
import { parseProofFile, verifyProofFile } from '../../../domain/log/proof/proof-file.ts'
import { cliFolder } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, data, root } = folder

async function write(values: readonly string[]) {
  await using keepup = await openKeepUp({ data, by: 'ann' })
  for (const value of values) await keepup.contextStore('review').set('goal', value)
}

it('proves an event in a file, keeps heads with an anchor, and finds a log that was put back to an older state', async () => {
  const disk = join(root, 'disk')
  mkdirSync(disk)
  await write(['one'])
  expect((await look('anchor', 'add', 'disk', 'folder', disk)).out).toContain('disk: added')
  expect(await look('anchor', 'add', 'x', 'folder', 'relative')).toMatchObject({ code: 2 })
  expect((await look('anchor', 'now')).out).toMatch(/^disk: keeps the head of \d+ events\n$/)
  expect((await look('anchor', 'list')).out).toMatch(/\ndisk +folder +\d+ +20\S+Z +.*disk/)
  const whole = join(root, 'whole')
  cpSync(data, whole, { recursive: true, filter: (path) => !path.endsWith('.sock') })

  const file = join(root, 'event.tlog-proof')
  expect((await look('prove', 'context-review@0', '--to', file)).out).toMatch(/^context-review@0 is event \d+ of \d+: /)
  expect(await look('prove', 'context-review@0', '--to', file)).toMatchObject({ code: 1 })
  expect(await look('prove', 'context-review@9')).toMatchObject({ code: 2, err: expect.stringContaining('NOT_FOUND') })
  const proof = parseProofFile(readFileSync(file, 'utf8'))
  const [key] = JSON.parse((await look('-o', 'json', 'sql', 'select vkey from log_origins')).out) as { vkey: string }[]
  const opened = verifyProofFile(proof, sha256(proof.extra!), [parseVkey(key!.vkey)])
  expect(opened.size).toBeGreaterThan(proof.index)

  await write(['two', 'three'])
  const plain = await look('verify')
  expect([plain.code, plain.out, plain.err]).toEqual([
    0,
    expect.stringMatching(/heads: hold, \d+ events \(\d+ recorded as anchored, \d+ signed\)\n/),
    expect.stringMatching(/the log itself says that events are anchored: .*verify --anchors/),
  ])
  expect((await look('verify', '--anchors')).out).toMatch(
    /heads: hold, \d+ events \(\d+ anchored, \d+ signed\)\n[\s\S]*store review: holds, 3 events \(1 recorded as anchored, 2 signed\), /,
  )
  const checkpoint = join(root, 'checkpoint')
  writeFileSync(checkpoint, JSON.parse((await look('-o', 'json', 'call', 'getProofHead')).out).checkpoint)
  const mine = await look('verify', '--checkpoint', checkpoint, '--vkey', key!.vkey)
  expect([mine.code, mine.out]).toEqual([0, expect.stringMatching(/\ncheckpoint: holds, \d+ events of keepup.local/)])
  expect(await look('verify', '--checkpoint', file)).toMatchObject({ code: 2 })
  expect(await look('verify', '--checkpoint', checkpoint, 'run')).toMatchObject({ code: 2 })
  expect(JSON.parse((await look('-o', 'json', 'streams', 'verify', 'context-review')).out)).toMatchObject({
    proof: { recorded: { events: 1, upTo: 0 }, signed: { events: 2, upTo: 2 }, chained: { events: 0, upTo: null } },
  })
  // The log and everything that follows from it is put back; the signed heads are not.
  for (const part of ['log', 'tables']) {
    rmSync(join(data, part), { recursive: true })
    cpSync(join(whole, part), join(data, part), { recursive: true })
  }
  const cut = await look('verify')
  expect([cut.code, cut.out]).toEqual([5, expect.stringMatching(/heads: BROKEN.*\n {2}CUT: .*its end was cut/)])
  // The heads were put back too. The anchor still holds a newer one.
  for (const name of readdirSync(data).filter((one) => one.startsWith('tree.db'))) rmSync(join(data, name))
  for (const name of readdirSync(whole).filter((one) => one.startsWith('tree.db')))
    cpSync(join(whole, name), join(data, name))
  expect((await look('verify')).out).toContain('heads: hold')
  const rolledBack = await look('verify', '--checkpoint', checkpoint)
  expect([rolledBack.code, rolledBack.out]).toEqual([
    5,
    expect.stringMatching(/CHECKPOINT: the checkpoint that you kept covers \d+ events, and the log has \d+/),
  ])
  const kept = join(disk, readdirSync(disk)[0]!)
  const newest = readdirSync(kept).sort().at(-1)!
  writeFileSync(
    join(kept, '000000009999.checkpoint'),
    readFileSync(join(kept, newest), 'utf8').replace(/\n\d+\n/, '\n9999\n'),
  )
  expect(await look('verify', '--anchors')).toMatchObject({ code: 5, out: expect.stringContaining('ANCHOR: ') })
})

it('refuses a verifier key that cannot sign what it is named for', async () => {
  const seed = new Uint8Array(32).fill(3)
  const [log, witness] = ([ED25519, COSIGNATURE] as const).map((type) =>
    formatVkey(noteSigner('other.example', seed, type).key),
  )
  const ecdsa = `other.example+01020304+${Buffer.of(2, ...seed).toString('base64')}`
  const says = (err: string) => ({ code: 2, err: expect.stringContaining(err) })
  for (const [key, type] of [
    [witness!, 4],
    [ecdsa, 2],
  ] as const) {
    const asked = ['pack', '--check', join(root, 'no.pack'), '--vkey', key]
    expect(await look(...asked)).toMatchObject(says(`logs sign with keys of type 1, not ${type}`))
    expect((await look('witness', 'add', key)).err).toContain(`has type ${type}; name a key that signs heads (1)`)
  }
  for (const key of [log!, ecdsa])
    expect(await look('anchor', 'add', 'w', 'witness', 'https://w.example', '--vkey', key)).toMatchObject(
      says('expected the verifier key of a witness (type 4)'),
    )
})
