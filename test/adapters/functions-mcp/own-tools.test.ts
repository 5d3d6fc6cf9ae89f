import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { claudeCode } from '../../../adapters/agents/cli/claude-code.ts'
import { codex } from '../../../adapters/agents/cli/codex.ts'
import { opencode } from '../../../adapters/agents/cli/opencode.ts'
import { reachTools } from '../../../adapters/agents/process/reach-tools.ts'
import type { OfferedTools } from '../../../domain/ports/external.ts'

// keepup's own tools as one run of another agent reaches them. The client is the protocol's own.

const LOOK = { name: 'look', description: 'Looks.', parameters: { type: 'object', required: ['at'] }, readOnly: true }

async function reached(call: OfferedTools['call'], ours: NodeJS.ProcessEnv = {}) {
  const { tools, close } = await reachTools({ list: () => [LOOK], call }, ours)
  onTestFinished(close)
  return { tools, close }
}

async function connected({ url, token }: { readonly url: string; readonly token: string }) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const headers = { Authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

test('each call is passed on as it came, also one that is to be refused, and its answer is told', async () => {
  const calls: unknown[] = []
  const { tools } = await reached(async (name, args) => {
    calls.push([name, args])
    return { text: name === 'look' ? 'seen' : `RESOURCE_NOT_FOUND: ${name}`, isError: name !== 'look' }
  })
  const client = await connected(tools)
  const [tool] = (await client.listTools()).tools
  expect([tool?.name, tool?.inputSchema.required, tool?.annotations]).toEqual(['look', ['at'], { readOnlyHint: true }])
  expect(await client.callTool({ name: 'look', arguments: {} })).toMatchObject({ content: [{ text: 'seen' }] })
  expect(await client.callTool({ name: 'drop', arguments: { a: 1 } })).toMatchObject({ isError: true })
  expect(calls).toEqual([
    ['look', {}],
    ['drop', { a: 1 }],
  ])
})

test('a call that the agent gives up is told of', async () => {
  const gone = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { tools } = await reached((_, __, signal) => {
    begun.resolve()
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        gone.resolve()
        resolve({ text: 'CANCELLED', isError: true })
      }),
    )
  })
  const client = await connected(tools)
  const stop = new AbortController()
  const answer = client.callTool({ name: 'look', arguments: {} }, { signal: stop.signal })
  answer.catch(() => undefined)
  await begun.promise
  stop.abort()
  await gone.promise
})

test('another process has neither token nor file, and the token dies with the run', async () => {
  const { tools, close } = await reached(async () => ({ text: 'seen', isError: false }))
  expect(new URL(tools.url).hostname).toBe('127.0.0.1')
  const ask = (token: string) =>
    fetch(tools.url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' })
  expect((await ask('guess')).status).toBe(401)
  expect((await ask(tools.token)).status).not.toBe(401)
  const path = tools.file('mcp.json', tools.token)
  expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700])
  await close()
  expect(() => statSync(dirname(path))).toThrow('ENOENT')
  await expect(ask(tools.token)).rejects.toThrow()
})

test.each([claudeCode, codex, opencode])('no argument of $kind holds the token', async ({ plan }) => {
  const given = JSON.stringify({ model: 'mine', mcp: { other: { type: 'local' } } })
  const { tools } = await reached(async () => ({ text: '', isError: false }), { OPENCODE_CONFIG_CONTENT: given })
  const { args, stdin, env = {} } = plan({ prompt: 'go', extensions: {} }, tools)
  expect(`${args.join(' ')} ${stdin}`).not.toContain(tools.token)
  const told = [
    ...args.filter((one) => one.startsWith('/')).map((path) => readFileSync(path, 'utf8')),
    ...Object.values(env),
  ]
  expect(told.join('\n')).toContain(tools.token)
  const { OPENCODE_CONFIG_CONTENT: config } = env
  if (config !== undefined)
    expect(JSON.parse(config)).toMatchObject({ model: 'mine', mcp: { other: { type: 'local' }, keepup_tools: {} } })
})
