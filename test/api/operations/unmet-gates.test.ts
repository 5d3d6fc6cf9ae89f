// @module-tag git
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { EXIT } from '../../../api/cli/exit.ts'
import { tempFolder } from '../../support/folders.ts'
import { idIn, inProcess } from '../support/cli.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
const { model } = world
const data = join(world.root, 'other')
afterAll(() => world.close())

/** A run of a coder that is told in its first turn to end: gates do not block completion in recovery. */
const coder = (...more: string[]) =>
  inProcess([
    ...['--data', data, 'run', 'finish', '--role', 'coder', '--model', model, '--no-sandbox'],
    ...['--max-turns', '2', '--grace-turns', '1', ...more],
  ])

it('a run that is done with unmet gates has an exit code of its own, and its list says so', async () => {
  const { code, out, err } = await coder('-w', tempFolder(), '--test-command', 'true')
  expect([code, out]).toEqual([EXIT.unmetGates, 'finish\n'])
  expect(err).toContain('gates that do not hold: tests_exist, tests_pass')
  expect(err).not.toContain('warning:')
  expect((await inProcess(['--data', data, 'runs', 'list'])).out).toContain('completed, unmet gates')
  const tree = await inProcess(['--data', data, 'tree', idIn(err)])
  expect(tree.out).toContain('completed, unmet gates: tests_exist, tests_pass')
})

it('a role whose tests must pass warns at the start where there is no test command', async () => {
  const warning = 'warning: the gate tests_pass of the role Coder cannot hold, because there is no test command'
  expect((await coder('-w', tempFolder(), '--no-drive')).err).toContain(warning)
  const workspace = tempFolder()
  writeFileSync(join(workspace, 'package.json'), JSON.stringify({ scripts: { test: 'true' } }))
  expect((await coder('-w', workspace, '--no-drive')).err).not.toContain(warning)
  const noGate = await inProcess(['--data', data, 'run', 'finish', '--model', model, '--no-workspace', '--no-drive'])
  expect(noGate.err).not.toContain('warning:')
})

it('the answer to a start has the warning, also where it is repeated', async () => {
  const body = {
    task: 'finish',
    role: 'coder',
    workspace: world.workspace(),
    drive: false,
    policy: { sandboxed: false },
  }
  const start = async () =>
    bodyOf<{ created: boolean; warnings: string[] }>(
      await world.ask('POST', '/v1/runs', { body, headers: { 'idempotency-key': 'one' } }),
    )
  const warnings = [expect.stringMatching(/no test command.*testCommand/)]
  expect(await start()).toMatchObject({ created: true, warnings })
  expect(await start()).toMatchObject({ created: false, warnings })
})
