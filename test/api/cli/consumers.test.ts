import { afterAll, beforeAll, expect, test } from 'vitest'
import { cliFolder, inProcess } from '../support/cli.ts'

// The commands `consume` and `consumers`.

const folder = cliFolder()
afterAll(() => folder.clean())
const cli = (...args: string[]) =>
  inProcess(['--data', folder.data, ...args], { KEEPUP_MODEL: folder.env.KEEPUP_MODEL, KEEPUP_BY: 'ada' })
const idsOf = (out: string): string[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: string }).id)
const all = async () => idsOf((await cli('tail', '--no-follow', '-o', 'jsonl')).out)

beforeAll(async () => {
  expect(await cli('run', 'finish it', '--no-workspace')).toMatchObject({ code: 0 })
})

test('each event comes once to the same name, and the list shows that nothing is left', async () => {
  const first = await cli('consume', 'desk', '--once', '-o', 'jsonl')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(idsOf(first.out)).toEqual(await all())
  expect(await cli('consume', 'desk', '--once', '-o', 'jsonl')).toMatchObject({ code: 0, out: '' })
  await cli('run', 'finish another', '--no-workspace')
  const second = await cli('consume', 'desk', '--once', '-o', 'jsonl')
  expect([...idsOf(first.out), ...idsOf(second.out)]).toEqual(await all())
  const [listed] = JSON.parse((await cli('consumers', '-o', 'json')).out)
  expect(listed).toMatchObject({ name: 'desk', lag: 0, filter: {} })
})

test('a filter, and a new beginning after a removal', async () => {
  const { out } = await cli('consume', 'ends', '--once', '--type', 'completion')
  expect(out.match(/completion/g)).toHaveLength(2)
  const other = await cli('consume', 'ends', '--once', '--type', 'error')
  expect(other).toMatchObject({ code: 1, err: expect.stringContaining('remove it first, or use another name') })
  expect((await cli('consumers')).out).toMatch(/ends +0 .*types completion/)
  expect(await cli('consumers', 'remove', 'ends')).toMatchObject({ code: 0, out: 'ends: removed\n' })
  expect((await cli('consume', 'ends', '--once', '--type', 'completion')).out).toBe(out)
  expect((await cli('consume', 'late', '--once', '--from', 'end')).out).toBe('')
  expect((await cli('consume', 'Bad name', '--once')).code).not.toBe(0)
})

test('doctor names a consumer that is behind', async () => {
  await cli('call', 'putConsumer', 'name=idle')
  const findings = JSON.parse((await cli('doctor', '-o', 'json')).out) as { check: string; found: string }[]
  expect(findings.filter(({ check }) => check === 'consumer').map(({ found }) => found)).toContainEqual(
    expect.stringMatching(/^idle: no ack yet, \d+ events behind$/),
  )
})

test('events that were not written are not acked', async () => {
  const lines: string[] = []
  const stdout = {
    write(text: string, done?: () => void) {
      if (text !== '') lines.push(text)
      if (lines.length > 3) throw new Error('the pipe is gone')
      done?.()
      return true
    },
    once: () => undefined,
  }
  const args = ['--data', folder.data, 'consume', 'cut', '--once', '-o', 'jsonl']
  const cut = await inProcess(args, { KEEPUP_MODEL: folder.env.KEEPUP_MODEL }, { stdout }).catch((error) => error)
  expect(cut).not.toMatchObject({ code: 0 })
  const again = await cli('consume', 'cut', '--once', '-o', 'jsonl')
  expect(idsOf(again.out)).toEqual(await all())
})
