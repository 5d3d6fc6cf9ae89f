// @module-tag git
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { QuestionAnswer } from '../../../api/operations/ask/schemas.ts'
import type { FileBlame } from '../../../api/operations/files/schemas.ts'
import type { Numbers } from '../../../api/operations/numbers/schemas.ts'
import type { SqlAnswer } from '../../../api/operations/sql/schemas.ts'
import { bodyOf, openWorld } from '../support/http.ts'

// A command that ends with another exit code than 0 has a result, and this result is a failure wherever calls are counted.

const world = await openWorld()
const { ask, answer, driven, services } = world
afterAll(() => world.close())

const WRITE = { path: 'a.txt', content: 'one\n' }
const turn = (...calls: { tool: string; arguments: object }[]) => ({ calls })
const command = (text: string) => ({ tool: 'run_command', arguments: { command: text } })
let run = ''
let workspace = ''

beforeAll(async () => {
  const script = join(world.root, 'exits.json')
  const turns = [
    turn(
      { tool: 'write_file', arguments: WRITE },
      { tool: 'list_dir', arguments: { path: '.' } },
      { tool: 'write_file', arguments: { path: 'b.txt', content: 'two\n' } },
    ),
    turn(command('exit 3')),
    turn(command('kill -9 $$')),
    turn(command('true')),
    turn({ tool: 'write_file', arguments: { path: 'c.txt', content: 'three\n' } }),
    turn({ tool: 'complete_task', arguments: { summary: 'done' } }),
  ]
  writeFileSync(script, JSON.stringify({ script: 1, model: 'exits', turns }))
  workspace = world.workspace()
  const [model, tools] = [`scripted:${script}`, ['list_dir', 'write_file', 'run_command']]
  const limits = { maxTurns: 20 }
  run = await driven('work', { model, workspace, tools, limits, policy: { mode: 'batch', sandboxed: false } })
})

const rows = async (sql: string) => (await bodyOf<SqlAnswer>(await ask('POST', '/v1/sql', { body: { sql } }))).rows
const answerTo = (name: string, id = run) =>
  ask('GET', `/v1/ask/${name}?run=${id}`).then((answer) => bodyOf<QuestionAnswer>(answer))

it('the table has the exit code of each command', async () => {
  const found = await rows("select status, exit_code from tool_calls where tool_name = 'run_command' order by turn")
  expect(found).toEqual([
    ['succeeded', 3],
    ['succeeded', -1],
    ['succeeded', 0],
  ])
  expect(await rows('select count(*) from tool_calls where exit_code is not null')).toEqual([[3]])
})

it('numbers count a command with another exit code than 0 as failed', async () => {
  const numbers = await bodyOf<Numbers>(await ask('GET', `/v1/numbers?run=${run}`))
  expect(numbers.tools.find(({ name }) => name === 'run_command')).toMatchObject({ calls: 3, failed: 2 })
  expect(numbers.toolFailures).toEqual([
    { name: 'run_command', code: 'EXIT_3', count: 1 },
    { name: 'run_command', code: 'SIGNAL', count: 1 },
  ])
})

it('a line of a file is that of a call that may have written it', async () => {
  const writers = async (path: string) => {
    const { sources } = await bodyOf<FileBlame>(await ask('GET', `/v1/runs/${run}/blame?path=${path}&step=9`))
    return sources.map(({ calls }) => calls.map(({ toolCallId }) => toolCallId))
  }
  expect(await writers('a.txt')).toEqual([[`${run}.t1.c0`]])
  expect(await writers('b.txt')).toEqual([[`${run}.t1.c2`]])
})

it('a call that waits for a person says so; a rejected one was no command that was run, and names who rejected it', async () => {
  const id = await driven('command', {
    workspace: world.workspace(),
    tools: ['run_command'],
    policy: { sandboxed: false },
  })
  const call = `${id}.t1.c0`
  const status = () => rows(`select status, ran from tool_calls where id = '${call}'`)
  expect(await status()).toEqual([['waiting', 0]])
  expect((await answer(call, { decision: 'rejected', by: 'ann' })).status).toBe(200)
  await ask('POST', `/v1/runs/${id}/resume`, { body: {} })
  await services.drivers.ended(id)
  await services.read.caughtUp()
  expect(await status()).toEqual([['failed', 0]])
  const cells = ({ columns, rows }: QuestionAnswer, ...names: readonly string[]) =>
    rows.map((row) => names.map((name) => row[columns.indexOf(name)]))
  const commands = await answerTo('commands')
  expect(JSON.stringify(commands)).not.toContain(call)
  expect(cells(commands, 'command', 'status', 'exit_code')).toEqual([
    [expect.stringContaining('true'), 'succeeded', 0],
    [expect.stringContaining('kill'), 'succeeded', -1],
    [expect.stringContaining('exit 3'), 'succeeded', 3],
  ])
  expect(
    cells(await answerTo('failed_commands'), 'exit_code')
      .flat()
      .toSorted(),
  ).toEqual([-1, 3])
  const denied = (await answerTo('denied', id)).rows.find((row) => row.includes(call))
  expect(denied).toEqual(expect.arrayContaining(['APPROVAL_REJECTED', expect.stringMatching(/:ann$/)]))
})
