import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { cliFolder } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, data, root } = folder

it('lists, shows, gets, proves, exports and erases what stores hold', async () => {
  await using keepup = await openKeepUp({ data, by: 'ann' })
  const store = keepup.contextStore('review')
  await store.set('goal', 'Find it.')
  await store.set('parts', ['api', 'web'])
  await store.set('old', 1)
  await store.delete('old')
  await keepup.close()

  expect((await look('stores')).out).toMatch(/^STORE +VARIABLES +SIZE .*\nreview +2 +21 B .*user:ann\n$/)
  const shown = (await look('stores', 'show', 'review')).out
  expect(shown).toMatch(/^KEY .*\ngoal +string +8 B +@0 .*\nparts +array +13 B +@1 .*\n$/)
  expect((await look('stores', 'show', 'review', '--deleted', '--prefix', 'o')).out).toMatch(/\nold .* deleted\n$/)
  expect((await look('stores', 'get', 'review', 'goal')).out).toBe('Find it.\n')
  expect(JSON.parse((await look('stores', 'get', 'review', 'parts')).out)).toEqual(['api', 'web'])
  expect(await look('stores', 'get', 'review', 'none')).toMatchObject({ code: 2 })
  expect((await look('stores', 'get', 'other', 'none')).err).toMatch(/there is no store "other"; list the stores/)

  expect(await look('stores', 'erase', 'review', '--reason', 'x')).toMatchObject({ code: 2 })
  expect((await look('stores', 'erase', 'review', 'goal', '--reason', 'x', '--dry-run')).out).toMatch(
    /^This would empty 1 value of goal, \d+ B\n$/,
  )
  expect((await look('stores', 'erase', 'review', 'goal', '--reason', 'private', '--yes')).out).toMatch(/^erased; /)
  expect((await look('stores', 'erase', 'review', 'goal', '--reason', 'private', '--yes')).out).toMatch(/^nothing was/)
  expect((await look('stores', 'show', 'review')).out).toMatch(/\ngoal .* erased\n/)

  const proof = /store review: holds, 6 events \(.*\), 4 digests, head \w+\n {2}revision 0 erased \(other\): private\n/
  expect((await look('stores', 'verify', 'review')).out).toMatch(proof)
  expect((await look('verify')).out).toMatch(proof)
  const file = join(root, 'review.ndjson')
  writeFileSync(file, (await look('stores', 'export', 'review')).out)
  expect((await look('verify', '--file', file)).out).toBe(
    'stream context-review: holds, 6 events, 1 erased (other: 1)\n',
  )
}, 60_000)
