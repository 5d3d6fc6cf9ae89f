import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { serveFunctions } from '../../../adapters/mcp/served/server.ts'
import { FunctionRegistry } from '../../../domain/external/spawn/runtime/function-registry.ts'

// CONTRACTS 14, Planned: the subprocess can really call the registry's functions. The client is the protocol's own.

const NUMBERS = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
}

async function served(register: (functions: FunctionRegistry) => unknown) {
  const functions = new FunctionRegistry()
  register(functions)
  const server = await serveFunctions({ agentId: 'agent-001', functions, version: '1' })
  onTestFinished(() => server.close())
  return server
}

async function connected({ url, token }: { url: string; token: string }, mode: 'auto' | 'legacy' = 'auto') {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const headers = { Authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

test.each(['auto', 'legacy'] as const)('lists and calls functions, in the protocol of either era: %s', async (mode) => {
  const callers: unknown[] = []
  const server = await served((functions) =>
    functions
      .register({
        ...{ name: 'add', description: 'Adds numbers.', parameters: NUMBERS },
        call: ({ a, b }, context) => {
          callers.push([context.agentId, context.signal.aborted])
          return (a as number) + (b as number)
        },
      })
      .register({ name: 'say', description: 'Says it.', parameters: { type: 'object' }, call: async () => 'hello' }),
  )
  const client = await connected(server, mode)
  const { tools } = await client.listTools()
  expect(tools.map(({ name, description, inputSchema }) => [name, description, inputSchema.required])).toEqual([
    ['add', 'Adds numbers.', ['a', 'b']],
    ['say', 'Says it.', undefined],
  ])
  expect(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({
    content: [{ type: 'text', text: '3' }],
  })
  expect(await client.callTool({ name: 'say', arguments: {} })).toMatchObject({ content: [{ text: 'hello' }] })
  expect(callers).toEqual([['agent-001', false]])
})

test('arguments are held to the schema, and a failure is told by its message', async () => {
  let calls = 0
  const server = await served((functions) =>
    functions.register({
      ...{ name: 'fail', description: 'Fails.', parameters: NUMBERS },
      call: () => {
        calls++
        throw new Error('the disk is full')
      },
    }),
  )
  const client = await connected(server)
  for (const wrong of [{ a: 1 }, { a: 1, b: 'x' }, { a: 1, b: 2, c: 3 }])
    expect(await client.callTool({ name: 'fail', arguments: wrong })).toMatchObject({ isError: true })
  expect(calls).toBe(0)
  expect(await client.callTool({ name: 'fail', arguments: { a: 1, b: 2 } })).toMatchObject({
    ...{ isError: true, content: [{ text: 'the disk is full' }] },
  })
})

test('without its token nothing is answered', async () => {
  const server = await served((functions) =>
    functions.register({ name: 'f', description: 'd', parameters: { type: 'object' }, call: () => 1 }),
  )
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  for (const authorization of ['', 'Bearer ', `Bearer ${server.token}x`, `Basic ${server.token}`]) {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization }
    const response = await fetch(server.url, { method: 'POST', headers, body })
    expect([response.status, await response.text()]).toEqual([401, ''])
  }
  expect(new URL(server.url).hostname).toBe('127.0.0.1')
})

test('its end aborts the calls under way and closes the port', async () => {
  const called = Promise.withResolvers<AbortSignal>()
  const server = await served((functions) =>
    functions.register({
      ...{ name: 'wait', description: 'Waits.', parameters: { type: 'object' } },
      call: (_, { signal }) => {
        called.resolve(signal)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }),
  )
  const client = await connected(server)
  const call = client.callTool({ name: 'wait', arguments: {} })
  call.catch(() => undefined)
  const signal = await called.promise
  await server.close()
  expect(signal.aborted).toBe(true)
  await expect(call).rejects.toThrow()
  await expect(fetch(server.url)).rejects.toThrow()
})
