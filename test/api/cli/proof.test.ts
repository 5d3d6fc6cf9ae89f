import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { parseVkey } from '../../../domain/log/proof/note.ts'
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
  expect((await look('anchor', 'list')).out).toMatch(/\ndisk +folder +\d+ +.*disk/)
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
  expect((await look('verify', '--anchors')).out).toMatch(
    /heads: hold, \d+ events \(\d+ anchored, \d+ signed\)\n[\s\S]*store review: holds, 3 events \(1 anchored, 2 signed\), /,
  )
  expect(JSON.parse((await look('-o', 'json', 'streams', 'verify', 'context-review')).out)).toMatchObject({
    proof: { anchored: { events: 1, upTo: 0 }, signed: { events: 2, upTo: 2 }, chained: { events: 0, upTo: null } },
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
  const kept = join(disk, readdirSync(disk)[0]!)
  const newest = readdirSync(kept).sort().at(-1)!
  writeFileSync(
    join(kept, '000000009999.checkpoint'),
    readFileSync(join(kept, newest), 'utf8').replace(/\n\d+\n/, '\n9999\n'),
  )
  expect(await look('verify', '--anchors')).toMatchObject({ code: 5, out: expect.stringContaining('ANCHOR: ') })
})
