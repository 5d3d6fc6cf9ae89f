// @module-tag git
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { cliFolder } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, root } = folder

function keptAnswers(): unknown {
  const db = new DatabaseSync(join(folder.data, 'request-cache.db'), { readOnly: true })
  const row = db.prepare('SELECT count(*) AS count FROM answers').get()
  db.close()
  return row?.count
}

it('lists, searches, shows, corrects, forgets, erases and proves what an agent has saved', async () => {
  const turn = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
  const turns = [
    turn('remember', { text: 'The port is 8080', scope: 'global' }),
    turn('remember', { text: 'Tea is at four', scope: 'workspace' }),
    turn('complete_task', { summary: 'saved' }),
  ]
  const script = join(root, 'memory.json')
  writeFileSync(script, JSON.stringify({ script: 1, model: 'm', turns }))
  const workspace = join(root, 'memory-work')
  mkdirSync(workspace)
  const model = `scripted:${script}`
  expect((await look('run', '--cache', '--model', model, '--workspace', workspace, 'save')).code).toBe(0)

  const found = JSON.parse((await look('-o', 'json', 'memory', '--query', 'port')).out) as { id: string }[]
  expect(found).toMatchObject([{ text: 'The port is 8080', scope: 'global' }])
  const { id } = found[0]!
  expect((await look('memory', 'list', '--workspace', workspace)).out).toMatch(/workspace-\w+ .*Tea is at four/)
  expect((await look('--by', 'ann', 'memory', 'correct', id, 'The', 'port', 'is', '8081')).code).toBe(0)
  const shown = (await look('memory', 'show', id)).out
  expect(shown).toMatch(/^The port is 8081\n/)
  expect(shown).toMatch(/@1 \S+ fact_corrected by user:ann: "The port is 8081"/)
  expect(keptAnswers()).toBe(3)
  expect(
    (await look('memory', 'forget', id, '--erase', '--code', 'mistake', '--reason', 'wrong', '--yes')).out,
  ).toMatch(/forgotten and erased/)
  expect(keptAnswers()).toBe(0)
  expect((await look('memory', '--query', 'port')).out).not.toContain('8081')
  expect((await look('memory', 'verify', id)).out).toMatch(
    /^holds\n {2}\d+ events \(.*\), [\s\S]*erased \(mistake\): wrong/,
  )
  expect(await look('memory', 'show', 'global-nothing')).toMatchObject({ code: 2 })
  const [run] = JSON.parse((await look('-o', 'json', 'runs', 'list')).out) as { runId: string }[]
  const erased = await look('erase', run!.runId, '--all', '--reason', 'private', '--yes')
  expect(erased).toMatchObject({
    code: 0,
    err: expect.stringMatching(/1 fact .*remember.*\n.*memory forget workspace-\w+ --erase/),
  })
  expect((await look('memory', '--global', '--run', 'x')).err).toMatch(/name one place/)
}, 60_000)
