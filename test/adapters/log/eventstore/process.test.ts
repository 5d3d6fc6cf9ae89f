import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { code } from '../../../contracts/event-log-factory.ts'
import { start } from '../../../support/child.ts'
import { HASTY, openLog } from '../../../support/eventstore/logs.ts'
import { collect, NEW, Sealer } from '../../../support/log/sealing.ts'

const path = (name: string) => fileURLToPath(new URL(`../../../support/eventstore/${name}`, import.meta.url))

/** The stand-in as a process, and what it is told to do. */
async function server(...args: string[]) {
  const child = start(process.execPath, [path('main.ts'), ...args])
  const lines = child.lines[Symbol.asyncIterator]()
  const next = async () => (await lines.next()).value as string
  const tell = async (line: string) => {
    child.process.stdin.write(`${line}\n`)
    expect(await next()).toBe(`done ${line}`)
  }
  return { url: await next(), tell, child }
}

test('a suspended server process: appends sent meanwhile land once', async () => {
  const { url, child } = await server()
  const log = await openLog(url)
  const hasty = await openLog(url, { limits: HASTY })
  const batch = new Sealer().batch('agent-a', NEW, [{}])
  child.process.kill('SIGSTOP')
  const appended = log.append('agent-a', -1, batch)
  await expect(hasty.head('agent-a')).rejects.toEqual(code('LOG_UNAVAILABLE'))
  child.process.kill('SIGCONT')
  await appended
  expect(await collect(log.read('agent-a'))).toHaveLength(1)
})

test('a process with an open log and subscription ends by itself when it closes them', async () => {
  const { url, tell } = await server('--cluster')
  const writer = start(process.execPath, [path('log-process.ts'), url])
  const said: string[] = []
  for await (const line of writer.lines) {
    said.push(line)
    if (line === 'written 2') {
      await tell('kill 0')
      await tell('elect 1')
    }
  }
  expect(await writer.ended).toEqual({ end: 0, stderr: '' })
  expect(said).toEqual(['written 1', 'written 2', 'written 3', 'written 4', 'read 8', 'closed'])
})
