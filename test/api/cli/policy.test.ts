// @module-tag git
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { cliFolder, idIn } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, root } = folder

it('tells which recorded calls another policy or role would have refused or asked about', async () => {
  const turn = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
  const turns = [turn('list_dir', { path: '.' }), turn('complete_task', { summary: 'done' })]
  const script = join(root, 'listing.json')
  writeFileSync(script, JSON.stringify({ script: 1, model: 'm', turns }))
  const workspace = join(root, 'listing-work')
  mkdirSync(workspace)
  const ran = await look('run', '--model', `scripted:${script}`, '--workspace', workspace, 'look around')
  const runId = idIn(ran.err)
  const policy = join(root, 'policy.json')
  writeFileSync(policy, JSON.stringify({ deniedTools: ['list_dir'] }))
  const refused = await look('policy', 'check', policy, '--runs', runId)
  expect([refused.code, refused.out]).toEqual([0, expect.stringMatching(/t1\.c0 +list_dir +PERMISSION_DENIED +ok/)])
  expect(refused.err).toContain('2 recorded calls; nothing was performed')
  writeFileSync(policy, JSON.stringify({ requiresApproval: ['list_dir'] }))
  const asked = JSON.parse((await look('-o', 'json', 'policy', 'check', policy, '--runs', runId)).out)
  expect(asked).toMatchObject({ calls: 2, found: [{ runId, would: 'ask', recorded: { asked: false, end: 'ok' } }] })
  expect(JSON.parse((await look('-o', 'json', 'policy', 'check', '--role', 'coder', '--runs', runId)).out).calls).toBe(
    2,
  )
  writeFileSync(policy, JSON.stringify({ deniedTools: ['list_dri', 'read_url'], allowedTools: ['*', 'gone:*'] }))
  const slipped = await look('policy', 'check', policy, '--runs', runId)
  expect(slipped.err).toContain('no tool of these runs is called gone:*, list_dri; look for a slip of the pen')
  writeFileSync(policy, '{"mode":"fast"}')
  expect(await look('policy', 'check', policy, '--runs', runId)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/policy\.json: .*mode/),
  })
  expect((await look('policy', 'check', '--role', 'unknown-role', '--runs', runId)).err).toMatch(
    /no role "unknown-role"/,
  )
}, 60_000)
