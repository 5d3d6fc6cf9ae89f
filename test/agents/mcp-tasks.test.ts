import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { cliFolder, entry } from '../api/support/cli.ts'

// Runs as tasks, by the two official packages: the client, and the requester of the tasks extension over its connection.

const folder = cliFolder()
afterAll(() => folder.clean())

const CAPABILITIES = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } }
const INFO = { name: 'test', version: '1' }
const VERSION = '2026-07-28'

/** A connection for the client, and for requests beside its own: the client decodes no task. */
class SharedTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #inner: StdioClientTransport
  readonly #waiting = new Map<string, (answer: never) => void>()

  constructor(inner: StdioClientTransport) {
    this.#inner = inner
    inner.onclose = () => this.onclose?.()
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message) => {
      const settle = 'id' in message ? this.#waiting.get(String(message.id)) : undefined
      if (settle === undefined) this.onmessage?.(message)
      else settle(message as never)
    }
  }

  start = () => this.#inner.start()
  close = () => this.#inner.close()
  send = (message: JSONRPCMessage) => this.#inner.send(message)

  async dispatch(request: object): Promise<never> {
    const id = `beside-${this.#waiting.size}`
    const { promise, resolve } = Promise.withResolvers<never>()
    this.#waiting.set(id, resolve)
    await this.send({ ...request, jsonrpc: '2.0', id } as JSONRPCMessage)
    return promise
  }
}

/** The members of answers that the tests read. */
interface Reply {
  readonly error?: { readonly code: number; readonly message: string }
  readonly result: {
    readonly taskId: string
    readonly status: string
    readonly content: [{ readonly text: string }]
    readonly inputRequests: Readonly<Record<string, { readonly params: object }>>
  }
}

type Answer = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Record<string, string> }

async function connected(answer: (message: string) => Answer | Promise<Answer>) {
  const transport = new SharedTransport(
    new StdioClientTransport({
      command: process.execPath,
      args: [entry, '--data', folder.data, '--by', 'ada', 'mcp'],
      env: folder.env,
      cwd: folder.root,
      stderr: 'ignore',
    }),
  )
  const client = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const session = createTaskSessionFromClient(client, {
    endpointId: 'keepup',
    rawDispatch: transport.dispatch.bind(transport) as never,
    v2RequestFraming: { protocolVersion: VERSION, clientInfo: INFO, clientCapabilities: CAPABILITIES },
    onInputRequest: (async ({ params }: { params: { message: string } }) => answer(params.message)) as never,
  })
  onTestFinished(() => session.close())
  const raw = (method: string, params: object, capabilities: object = CAPABILITIES) =>
    transport.dispatch({
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': VERSION,
          'io.modelcontextprotocol/clientInfo': INFO,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    }) as Promise<Reply>
  const start = async (task: string) => {
    const workspace = folder.workspace()
    const { result } = await raw('tools/call', { name: 'start_run', arguments: { task, workspace } })
    expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null })
    return { taskId: result.taskId, workspace }
  }
  const until = async (taskId: string, status: string) => {
    const get = async () => (await raw('tasks/get', { taskId })).result
    await expect.poll(async () => (await get()).status).toBe(status)
    return get()
  }
  return { client, session, raw, start, until }
}

test('the official requester runs a task to its result: the person approves a call that it shows', async () => {
  const shown: string[] = []
  const { client, session } = await connected((message) => {
    shown.push(message)
    return { action: 'accept', content: { decision: 'approved', reason: 'seen' } }
  })
  expect(client.getServerCapabilities()?.extensions).toHaveProperty(['io.modelcontextprotocol/tasks'])
  const workspace = folder.workspace()
  const execution = await session.callTool('start_run', { task: 'write it', workspace })
  const { outcome } = await execution.settle()
  expect(shown).toEqual([expect.stringContaining('hello')])
  expect(JSON.stringify(outcome)).toContain('approved')
  expect(existsSync(join(workspace, 'hello.txt'))).toBe(true)
})

test('a question is input that the task requires, and a run that is cancelled is a cancelled task', async () => {
  const { raw, start, until } = await connected(() => ({ action: 'cancel' }))
  const { taskId } = await start('ask me')
  const [key, request] = Object.entries((await until(taskId, 'input_required')).inputRequests)[0]!
  expect(request.params).toMatchObject({ message: 'Which?', requestedSchema: { required: ['text'] } })
  const wrong = await raw('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: {} } } })
  expect(wrong.error).toMatchObject({ code: -32602 })
  const response = { action: 'accept', content: { text: 'the blue one' } }
  expect(await raw('tasks/update', { taskId, inputResponses: { [key]: response } })).toMatchObject({
    result: { resultType: 'complete' },
  })
  expect(await until(taskId, 'completed')).toMatchObject({ result: { isError: false } })
  const other = await start('ask me')
  await until(other.taskId, 'input_required')
  expect((await raw('tasks/cancel', { taskId: other.taskId })).result).toMatchObject({ resultType: 'complete' })
  await until(other.taskId, 'cancelled')
})

test('an answer to another question than the one that is open approves nothing', async () => {
  const { raw, start, until } = await connected(() => ({ action: 'cancel' }))
  const { taskId, workspace } = await start('write it')
  const [key] = Object.keys((await until(taskId, 'input_required')).inputRequests)
  const stale = key!.replace(/[0-9a-f]{64}$/, 'f'.repeat(64))
  const approved = { action: 'accept', content: { decision: 'approved' } }
  await raw('tasks/update', { taskId, inputResponses: { [stale]: approved } })
  expect(Object.keys((await until(taskId, 'input_required')).inputRequests)).toEqual([key])
  await raw('tasks/update', { taskId, inputResponses: { [key!]: { action: 'decline' } } })
  await until(taskId, 'completed')
  expect(existsSync(join(workspace, 'hello.txt'))).toBe(false)
})

test('a client without the extension gets no task, and an unknown task is refused', async () => {
  const { raw } = await connected(() => ({ action: 'cancel' }))
  const started = await raw('tools/call', { name: 'start_run', arguments: { task: 'ask me' } }, {})
  expect(started.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text' }] })
  const { runId } = JSON.parse(started.result.content[0].text)
  expect((await raw('tasks/get', { taskId: runId }, {})).error).toMatchObject({ code: -32021 })
  expect((await raw('tasks/get', { taskId: 'nothing' })).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('nothing'),
  })
})
