import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { idIn, inProcess } from '../support/cli.ts'
import { writeScript } from '../support/script.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-routing-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const model = writeScript(root)
const env = {
  KEEPUP_DATA: join(root, 'data'),
  HOME: root,
  XDG_CONFIG_HOME: root,
  PATH: process.env.PATH ?? '',
}
const file = (content: unknown) => {
  const path = join(root, 'routing.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const run = (content: unknown, ...more: string[]) =>
  inProcess(['run', 'finish it', '--no-workspace', '--routing', file(content), ...more], env)
const routing = { models: [model], rules: [{ name: 'mine', policy: 'quality' }] }

describe('run --routing', () => {
  it.each([
    ['alone', routing],
    ['under its name', { routing }],
  ])('rules from a file choose the models of this run: %s', async (_, content) => {
    const done = await run(content)
    expect(done).toMatchObject({ code: 0 })
    const explained = await inProcess(['explain', idIn(done.err), '--turn', '1'], env)
    expect(explained.out).toContain('mine')
  })

  it.each([
    ['{', /not JSON/],
    [{ models: [model], rules: [] }, /rules/],
    [{ ...routing, rules: [{ name: 'x', policy: 'best' }] }, /rules\.0\.policy/],
    [{ ...routing, rules: [{ name: 'x', policy: 'cost', models: ['other'] }] }, /add it there/],
  ])('%j is refused by file and key, before anything is recorded', async (content, why) => {
    const { code, err } = await run(content)
    expect(code).toBe(2)
    expect(err).toMatch(why)
    expect(err).toContain('--routing')
  })

  it('a model beside it is refused, and so is a file that is not there', async () => {
    expect((await run(routing, '--model', model)).err).toMatch(/either model, or routing/)
    const missing = await inProcess(['run', 'finish it', '--no-workspace', '--routing', 'nowhere.json'], env)
    expect(missing).toMatchObject({ code: 2, err: expect.stringMatching(/nowhere\.json: cannot be read/) })
  })
})
