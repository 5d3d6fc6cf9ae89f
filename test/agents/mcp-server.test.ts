import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { cliFolder, entry } from '../api/support/cli.ts'

// `keepup mcp` as a client sees it: by the protocol's official package, over the streams of a process.

const folder = cliFolder()
afterAll(() => folder.clean())

async function connected(mode: 'auto' | 'legacy', ...args: string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [entry, '--data', folder.data, '--by', 'ada', 'mcp', ...args],
    env: folder.env,
    cwd: folder.root,
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args })
    const [{ text }] = content as unknown as [{ text: string }]
    return isError ? { refused: text } : JSON.parse(text)
  }
  const until = async (run: string, done: (detail: { run: { status: string; waits: unknown } }) => boolean) => {
    await expect.poll(async () => done(await call('get_run', { runId: run }))).toBe(true)
    return call('get_run', { runId: run })
  }
  return { client, call, until }
}

test('an approval does not lift the pause of a person', async () => {
  const { call } = await connected('auto')
  const { runId } = await call('start_run', { task: 'write it', workspace: folder.workspace() })
  await expect.poll(async () => (await call('list_approvals', { runId })).approvals.length).toBe(1)
  const [{ toolCallId }] = (await call('list_approvals', { runId })).approvals
  expect((await folder.look('pause', runId)).code).toBe(0)
  const { questionHash } = await call('get_approval', { toolCallId })
  const answer = await call('decide_approval', { toolCallId, questionHash, decision: 'approved' })
  expect(answer).toMatchObject({ runId, driving: false })
  expect((await call('get_run', { runId })).run).toMatchObject({ paused: true })
})

test.each(['auto', 'legacy'] as const)('a run is started, its call approved, and its log read (%s)', async (mode) => {
  const { client, call, until } = await connected(mode)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['start_run', 'get_run_state', 'decide_approval', 'suggest_change']),
  )
  // What an agent suggests, a person accepts.
  for (const { name } of tools) expect(name).not.toMatch(/(accept|refuse)_suggestion/)
  const workspace = folder.workspace()
  const { runId } = await call('start_run', { task: 'write it', workspace })
  await expect.poll(async () => (await call('list_approvals', { runId })).approvals.length).toBe(1)
  const { approvals } = await call('list_approvals', { runId })
  const id = approvals[0].toolCallId
  const { questionHash, preview } = await call('get_approval', { toolCallId: id })
  expect(JSON.stringify(preview)).toContain('hello')
  const wrong = { toolCallId: id, decision: 'approved', questionHash: 'f'.repeat(64) }
  expect(await call('decide_approval', wrong)).toEqual({ refused: expect.stringMatching(/^QUESTION_CHANGED: /) })
  expect(existsSync(join(workspace, 'hello.txt'))).toBe(false)
  await call('decide_approval', { ...wrong, questionHash, reason: 'seen' })
  const { run } = await until(runId, ({ run }) => run.status === 'completed')
  expect(run).toMatchObject({ summary: expect.stringContaining('approved') })
  expect(existsSync(join(workspace, 'hello.txt'))).toBe(true)
  const { events } = await call('list_run_events', { runId, type: 'approval_decided' })
  const decided = events.find(({ type }: { type: string }) => type === 'approval_decided')
  expect(decided).toMatchObject({ actor: { kind: 'approver', id: 'ada' }, payload: { reason: 'seen' } })
  const [then, now] = [await call('get_run_state', { runId, step: 1 }), await call('get_run_state', { runId })]
  expect(JSON.stringify(now)).toContain('DONE')
  expect(JSON.stringify(then)).not.toContain('"DONE"')
})

test('a question is answered by input, and a run is listed and cancelled', async () => {
  const { call, until } = await connected('auto')
  const asked = await call('start_run', { task: 'ask me', workspace: folder.workspace() })
  await expect.poll(async () => JSON.stringify(await call('get_run', { runId: asked.runId }))).toContain('Which?')
  await call('send_input', { runId: asked.runId, text: 'the blue one' })
  const { run } = await until(asked.runId, ({ run }) => run.status === 'completed')
  expect(run.status).toBe('completed')
  const { runId } = await call('start_run', { task: 'ask me', workspace: folder.workspace() })
  await call('cancel_run', { runId, reason: 'no more' })
  await until(runId, ({ run }) => run.status === 'failed')
  const { runs } = await call('list_runs', { limit: 1 })
  expect(runs).toMatchObject([{ runId }])
})

test('what is not there is refused in words, and a read-only server offers nothing that records', async () => {
  const { client, call } = await connected('auto', '--read-only')
  expect(await call('get_run', { runId: 'nothing' })).toEqual({ refused: expect.stringContaining('nothing') })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'list_approvals',
    'get_approval',
    'list_consumers',
    'list_document_comments',
    'list_run_events',
    'list_agent_events',
    'get_run_state',
    'list_runs',
    'get_run',
    'trace',
  ])
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
  await expect(call('start_run', { task: 'x' })).rejects.toThrow('start_run not found')
})
