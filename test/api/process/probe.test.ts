import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { probe } from '../../../api/process/owner/probe.ts'
import { remoteBackend } from '../../../api/process/owner/remote.ts'
import { start } from '../../support/child.ts'

function socketIn(): string {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-probe-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 's')
}

async function served(listener: RequestListener): Promise<string> {
  const path = socketIn()
  const server = createServer(listener).listen(path)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return path
}

const backend = (socketPath: string, timeoutMs: number) =>
  remoteBackend({ dataFolder: '/data', socketPath, token: () => 't', timeoutMs })

/** Waited out where nothing comes, and long enough for this very process to find the time to ask and to answer. */
const LIMIT_MS = 2_000

test('who listens and answers nothing is silent, who does not listen is absent', async () => {
  let asked = 0
  const path = await served(() => void asked++)
  expect(await probe(path, LIMIT_MS)).toBe('silent')
  expect(asked).toBe(2)
  expect(await probe(socketIn(), LIMIT_MS)).toBe('absent')
})

test('who goes on answering is busy, not silent, though it finds no time for a question', async () => {
  let questions = 0
  let more: (() => void) | null = null
  const path = await served((request, response) => {
    if (request.url !== '/v1/health') {
      response.write('0')
      more = () => (questions < 3 ? response.write(`${questions}`) : response.end('.'))
      return
    }
    questions++
    more?.()
  })
  const asked = backend(path, LIMIT_MS)
  const answer = await asked.fetch(new Request('http://localhost/v1/slow'))
  expect(await answer.text()).toBe('012.')
  await asked.close()
})

test('who gives no sign while a request is under way is silent', async () => {
  const asked = backend(await served(() => undefined), 200)
  await expect(asked.fetch(new Request('http://localhost/v1/slow'))).rejects.toMatchObject({ code: 'OWNER_SILENT' })
  await asked.close()
})

const CROWDED = `
  const server = require('node:http').createServer((_, response) => response.end('{}'))
  server.listen({ path: process.argv[1], backlog: 1 }, () => console.log('listening'))`

test('a crowd before the door is waited out', async () => {
  const path = socketIn()
  const child = start(process.execPath, ['-e', CROWDED, path])
  for await (const line of child.lines) {
    expect(line).toBe('listening')
    break
  }
  child.process.kill('SIGSTOP')
  const crowd = []
  for (let refused = false; !refused; ) {
    const one = connect(path)
    const [event] = await Promise.race([once(one, 'connect').then(() => ['in']), once(one, 'error')])
    refused = event !== 'in'
    crowd.push(one.on('error', () => undefined))
  }
  const found = probe(path, 60_000)
  // It is refused before the door opens again.
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
  child.process.kill('SIGCONT')
  expect(await found).toBe('answers')
  for (const one of crowd) one.destroy()
})
