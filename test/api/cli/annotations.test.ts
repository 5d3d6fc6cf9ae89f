import { afterAll, expect, it } from 'vitest'
import { cliFolder } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look } = folder
const json = async <T>(...argv: string[]) => JSON.parse((await look('-o', 'json', ...argv)).out) as T

it('tags a run, writes and removes notes, and finds the run and its texts', async () => {
  await look('run', 'finish the heron', '--no-workspace')
  const [run] = await json<{ runId: string; tags: string[] }[]>('runs', 'list')
  const id = run!.runId
  expect((await look('runs', 'tag', id, 'release', 'checked')).out).toBe(
    'the run has the tag "release"\nthe run has the tag "checked"\n',
  )
  expect((await look('runs', 'tag', id, 'release')).out).toBe('the run has the tag "release", as before\n')
  expect((await look('runs', 'untag', id, 'checked')).code).toBe(0)
  expect(await json('runs', 'list', '--tag', 'release')).toMatchObject([{ runId: id, tags: ['release'] }])
  expect(await json('runs', 'list', '--tag', 'checked')).toEqual([])
  expect((await look('runs', 'list')).out).toMatch(/TAGS[\s\S]*release/)
  expect((await look('runs', 'show', id)).out).toMatch(/^tags +release$/m)
  expect((await look('--by', 'ann', 'runs', 'note', id, 'looks', 'right')).out).toBe('note 3 was added\n')
  expect((await look('runs', 'notes', id)).out).toMatch(/3 .*user:ann .*looks right/)
  expect((await look('runs', 'list', '--text', 'LOOKS right')).out).toContain(id)
  expect((await look('runs', 'unnote', id, '3', '--erase', '--reason', 'personal', '--yes')).out).toBe(
    'note 3 was removed and erased\n',
  )
  expect(await json('runs', 'notes', id)).toEqual([])
  expect(await look('runs', 'unnote', id, '3')).toMatchObject({ code: 2, err: expect.stringContaining('no note 3') })
  expect(await look('runs', 'tag', id, 'x'.repeat(65))).toMatchObject({ code: 2 })
  const found = await json<{ stream: string; kind: string; match: string }[]>('search', 'HERON', '--run', id)
  expect(found.map(({ stream, kind, match }) => [stream, kind, match])).toContainEqual([
    `agent-${id}`,
    'input',
    'heron',
  ])
  expect((await look('search', 'heron')).out).toMatch(new RegExp(`agent-${id}@\\d+ .*input .*finish the heron`))
  expect(await json('search', 'no heron at all')).toEqual([])
}, 120_000)
