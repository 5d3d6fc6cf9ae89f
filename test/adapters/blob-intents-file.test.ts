import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileIntents } from '../../adapters/files/blobs/intents.ts'
import { tempFolder } from '../support/folders.ts'

const intent = (runId: string, digit: string) => ({ stream: `agent-${runId}.c1`, runId, hash: digit.repeat(64) })

test('the next process finds an intent until it has ended', async () => {
  const folder = join(tempFolder(), 'made', 'when needed')
  const first = new FileIntents(folder)
  expect(await first.left()).toEqual([])
  const [a, b] = [intent('one', 'a'), intent('two', 'b')]
  await first.begin([a, b])
  await first.begin([a])
  const next = new FileIntents(folder)
  const byHash = (x: { hash: string }, y: { hash: string }) => x.hash.localeCompare(y.hash)
  expect([...(await next.left())].sort(byHash)).toEqual([a, b])
  await next.end([a])
  await next.end([a])
  expect(await first.left()).toEqual([b])
})

test('a foreign file is left alone', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'README'), '')
  mkdirSync(join(folder, 'a folder'))
  expect(await new FileIntents(folder).left()).toEqual([])
})

test('an intent that cannot be written gives an error with a remedy', async () => {
  const file = join(tempFolder(), 'file')
  writeFileSync(file, '')
  const intents = new FileIntents(join(file, 'below'))
  await expect(intents.begin([intent('one', 'a')])).rejects.toMatchObject({
    name: 'LogError',
    code: 'LOG_UNAVAILABLE',
    message: expect.stringContaining('check that this user may write there'),
  })
})

test('intents that cannot be read are an error, not none', async () => {
  const file = join(tempFolder(), 'file')
  writeFileSync(file, '')
  const refused = { name: 'LogError', code: 'LOG_UNAVAILABLE', message: expect.stringContaining('may read there') }
  await expect(new FileIntents(file).left()).rejects.toMatchObject(refused)
})

test('an intent names no place outside of its folder', async () => {
  const intents = new FileIntents(tempFolder())
  const hash = 'a'.repeat(64)
  const bad = [
    { stream: '../agent-x', runId: 'r', hash },
    { stream: 'agent-x', runId: '../r', hash },
    { stream: 'agent-x', runId: 'r', hash: '../b' },
  ]
  for (const intent of bad) await expect(intents.begin([intent])).rejects.toMatchObject({ code: 'APPEND_INVALID' })
})
