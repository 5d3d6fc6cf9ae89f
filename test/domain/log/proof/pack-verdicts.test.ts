import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkPack } from '../../../../api/operations/pack/check-pack.ts'
import { anyPack } from '../../../support/forged-packs.ts'
import { tarOf, writePack } from '../../../support/packs.ts'
import { property } from '../../../support/property.ts'
import { startPython } from '../../../support/python.ts'

// `npm run test:packs` tries 10,000 packs.
const PACKS = Number(process.env.PACKS ?? 250)

let folder: string
let python: ReturnType<typeof startPython>
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keepup-verdicts-'))
  python = startPython()
})
afterAll(async () => {
  await python.end()
  rmSync(folder, { recursive: true })
})

test('verify.py and our verifier agree about each pack, honest or forged, and accept every honest one', {
  tags: ['python3'],
  timeout: 60_000 + 200 * PACKS,
}, async () => {
  const seen = new Map<string, number>()
  const doubted = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(anyPack, async ({ pack, change }) => {
      const path = writePack(folder, pack)
      const theirs = await python.run(path)
      const ours = await checkPack(tarOf(pack))
      rmSync(path, { recursive: true })
      expect({ change, ok: ours.ok, problems: ours.problems, shown: theirs.shown }).toMatchObject({
        ok: theirs.code === 0,
      })
      if (change === 'honest') expect(ours.ok).toBe(true)
      // An honest pack of the whole log proves everything that it says.
      if (change === 'honest' && !('hashes.txt' in pack)) expect(ours.unproved).toEqual([])
      if (ours.ok)
        expect(theirs.shown.match(/^UNPROVED: .*/gm) ?? []).toEqual(ours.unproved.map((one) => `UNPROVED: ${one}`))
      for (const what of ['erased', 'may go on'])
        if (ours.ok && ours.unproved.some((one) => one.includes(what)))
          doubted.set(`${change}, ${what}`, (doubted.get(`${change}, ${what}`) ?? 0) + 1)
      if (!ours.ok) seen.set(change, (seen.get(change) ?? 0) + 1)
    }),
    property(PACKS),
  )
  // Every kind of forgery was refused at least once, so that the generator does what its names say.
  for (const change of [
    'edit',
    'swap',
    'drop',
    'insert',
    'body',
    'salt',
    'hash',
    'note',
    'treeHash',
    'noBody',
    'noBlob',
    'blob',
    'noReason',
  ])
    expect([change, (seen.get(change) ?? 0) > 0]).toEqual([change, true])
  for (const change of ['relabel, erased', 'tail, may go on'])
    expect([change, (doubted.get(change) ?? 0) > 0]).toEqual([change, true])
})

test('both verifiers name the files that nothing signs', { tags: ['python3'] }, async () => {
  const [honest] = fc.sample(
    anyPack.filter(({ pack, change }) => change === 'honest' && !('hashes.txt' in pack)),
    { numRuns: 1, seed: 1 },
  )
  const pack = { ...honest!.pack, 'story.html': 'a story', 'tables/runs.csv': 'a table', 'tables/usage.csv': '' }
  const said = 'files beside the events, which nothing signs: story.html, tables'
  expect(await checkPack(tarOf(pack))).toMatchObject({ ok: true, unproved: [said] })
  expect((await python.run(writePack(folder, pack))).shown).toContain(`UNPROVED: ${said}\n`)
})
