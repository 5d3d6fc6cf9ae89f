// @module-tag git
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLIENT_CAPABILITIES_META_KEY, type McpServer, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { Context } from '../../../api/cli/context.ts'
import { CliError } from '../../../api/cli/exit.ts'
import { asOne, take } from '../../../api/http/answers.ts'
import { serveTasks } from '../../../api/mcp/tasks.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { tempFolder } from '../../support/folders.ts'
import { workspaces } from '../support/script.ts'

// The requests of the tasks extension over a data folder, without a connection.

interface Task {
  readonly status: string
  readonly statusMessage?: string
  readonly inputRequests?: Readonly<Record<string, object>>
}

const asked = {
  mcpReq: {
    envelope: {
      [CLIENT_CAPABILITIES_META_KEY]: { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  },
}

/** The handlers of a server, as its connection calls them. */
function handlersOf(ctx: Context) {
  const handlers = new Map<string, (params: object, asked: object) => Promise<Task>>()
  const server = { setRequestHandler: (method: string, _: object, handle: never) => handlers.set(method, handle) }
  serveTasks({ server } as unknown as McpServer, ctx)
  return {
    get: (taskId: string) => handlers.get('tasks/get')!({ taskId }, asked),
    update: (taskId: string, inputResponses: object) =>
      handlers.get('tasks/update')!({ taskId, inputResponses }, asked),
  }
}

/** A run in which two calls wait for an approval, and the tasks of a server that starts anew. */
async function waiting() {
  const root = tempFolder()
  const script = join(root, 'script.json')
  const write = (path: string) => ({ tool: 'write_file', arguments: { path, content: '' } })
  const done = { calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] }
  writeFileSync(script, JSON.stringify({ script: 1, turns: [{ calls: [write('one.txt'), write('two.txt')] }, done] }))
  const stream = { write: () => true }
  const io = { stdout: stream, stderr: stream, stdin: process.stdin, env: { KEEPUP_MODEL: `scripted:${script}` } }
  const ctx = new Context(
    { ...io, cwd: tmpdir(), open: openServices, program: 'keepup' },
    { data: join(root, 'data'), output: 'json', by: 'ada' },
  )
  onTestFinished(() => ctx.leave())
  const { v1 } = await ctx.client('write')
  const policy = { mode: 'batch' as const, requiresApproval: ['write_file'] }
  const json = { task: 'write both', workspace: workspaces(root)(), policy, by: 'ada' }
  const { runId } = await take(v1.runs.$post({ header: asOne(), json }))
  const detail = () => take(v1.runs[':id'].$get({ param: { id: runId } }))
  const tasks = handlersOf(ctx)
  const status = async () => (await detail()).run.status
  const open = async (count: number) => {
    await expect.poll(async () => (await detail()).asks.length).toBe(count)
    await expect.poll(async () => (await detail()).run.driving).toBe(false)
  }
  await open(2)
  const keys = async () => Object.keys((await tasks.get(runId)).inputRequests ?? {})
  const decided = async (key: string) => {
    const param = { toolCallId: key.split(':')[1]! }
    const { questionHash } = await take(v1.approvals[':toolCallId'].$get({ param }))
    const decision = { decision: 'approved', questionHash, by: 'bob' } as const
    await take(v1.approvals[':toolCallId'].$post({ param, header: asOne(), json: decision }))
  }
  const pause = () => take(v1.runs[':id'].pause.$post({ param: { id: runId }, header: asOne(), json: { by: 'bob' } }))
  return { ctx, runId, tasks, detail, status, open, keys, decided, pause }
}

const approve = (...keys: string[]) =>
  Object.fromEntries(keys.map((key) => [key, { action: 'accept', content: { decision: 'approved' } }]))

test('a run goes on after the answers to its task, also if another person decides one of them in between', async () => {
  const { ctx, runId, tasks, keys, decided, status } = await waiting()
  const [first, second] = (await keys()) as [string, string]
  const backend = await ctx.backend('write')
  const { fetch } = backend
  let between = true
  const patched = async (request: Request) => {
    if (between && request.method === 'POST' && request.url.includes(second.split(':')[1]!)) {
      between = false
      await decided(second)
    }
    return fetch.call(backend, request)
  }
  Object.assign(backend, { fetch: patched })
  await expect(tasks.update(runId, approve(first, second))).rejects.toThrow('APPROVAL_NOT_PENDING')
  await expect.poll(status).toBe('completed')
})

test('a run goes on after answers that come late, because another person has decided everything', async () => {
  const { runId, tasks, keys, decided, status, open } = await waiting()
  const shown = await keys()
  for (const key of shown) await decided(key)
  await open(0)
  expect(await tasks.update(runId, approve(...shown))).toEqual({})
  await expect.poll(status).toBe('completed')
})

test('a task of which the process has ended goes on when its client asks for it', async () => {
  const { runId, tasks, keys, decided, status, open } = await waiting()
  for (const key of await keys()) await decided(key)
  await open(0)
  expect(await tasks.get(runId)).toMatchObject({ status: 'working' })
  await expect.poll(status).toBe('completed')
})

test('an answer does not lift the pause of a person', async () => {
  const { runId, tasks, keys, pause, detail } = await waiting()
  const shown = await keys()
  await pause()
  await tasks.update(runId, approve(...shown))
  expect(await detail()).toMatchObject({ asks: [], run: { paused: true, driving: false } })
  expect(await tasks.get(runId)).toMatchObject({ status: 'working', statusMessage: expect.stringContaining('paused') })
  expect((await detail()).run.paused).toBe(true)
})

test('a late answer answers no later question of the same agent', async () => {
  const posted: object[] = []
  let turn = 1
  const run = { runId: 'r', status: 'running', paused: false, interrupted: false, waiting: [], turn }
  const ask = { for: 'input', runId: 'r', agentId: 'r', toolCallId: null, toolName: null, text: '' }
  const answer = (body: object) => Promise.resolve(Response.json(body))
  const one = {
    $get: () => answer({ run, asks: [ask], tree: [{ agentId: 'r', turn }] }),
    input: { $post: ({ json }: { json: object }) => answer({ driving: posted.push(json) > 0 }) },
  }
  const tasks = handlersOf({ client: async () => ({ v1: { runs: { ':id': one } } }) } as unknown as Context)
  const keyOf = async () => Object.keys((await tasks.get('r')).inputRequests!)[0]!
  const shown = await keyOf()
  const text = (key: string) => ({ [key]: { action: 'accept', content: { text: 'yes' } } })
  turn = 2
  await tasks.update('r', text(shown))
  expect(posted).toEqual([])
  await tasks.update('r', text(await keyOf()))
  expect(posted).toMatchObject([{ text: 'yes', agent: 'r' }])
})

test('a failure of the command line keeps its remedy', async () => {
  const client = () => Promise.reject(new CliError('the folder is locked; end the other process'))
  const tasks = handlersOf({ client } as unknown as Context)
  await expect(tasks.get('r')).rejects.toMatchObject({
    code: ProtocolErrorCode.InternalError,
    message: expect.stringContaining('end the other process'),
  })
})
