import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  client,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { cliFolder, entry } from '../api/support/cli.ts'

// `keepup acp` as an editor sees it: by the client side of the protocol's official package, over the streams of a process.

const folder = cliFolder()
afterAll(() => folder.clean())

type Answer = 'approved' | 'rejected' | 'cancelled'

/** An editor with keepup as its agent. All that the agent prints must be messages of the protocol. */
function editor({
  answer = 'approved',
  args = [],
}: {
  answer?: Answer | (() => Promise<Answer>)
  args?: string[]
} = {}) {
  const child: ChildProcess = spawn(process.execPath, [entry, '--data', folder.data, '--by', 'ada', 'acp', ...args], {
    cwd: folder.root,
    env: folder.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [printed, said]: [Buffer[], string[]] = [[], []]
  child.stdout!.on('data', (bytes: Buffer) => printed.push(bytes))
  child.stderr!.on('data', (bytes: Buffer) => said.push(String(bytes)))
  const asked: RequestPermissionRequest[] = []
  const told: SessionUpdate[] = []
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin!) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout!) as ReadableStream<Uint8Array>,
  )
  const { agent } = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void told.push(params.update))
    .onRequest('session/request_permission', async ({ params }) => {
      asked.push(params)
      const given = typeof answer === 'function' ? await answer() : answer
      return { outcome: given === 'cancelled' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: given } }
    })
    .connect(stream)
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, err: said.join('') }))
  return {
    agent,
    asked,
    told,
    greet: () => agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} }),
    opened: (cwd: string) => agent.request('session/new', { cwd, mcpServers: [] }),
    prompt: (sessionId: string, text: string) =>
      agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    text: () =>
      told
        .flatMap((u) =>
          u.sessionUpdate === 'agent_message_chunk' && u.content.type === 'text' ? [u.content.text] : [],
        )
        .join(''),
    /** Closes the streams, as an editor does that ends; the output holds nothing but messages. */
    async closed() {
      child.stdin!.end()
      const end = await ended
      for (const line of Buffer.concat(printed).toString('utf8').split('\n').filter(Boolean))
        expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
      return end
    },
  }
}

const show = async (id: string) => JSON.parse((await folder.look('runs', 'show', id, '-o', 'json')).out)

test('a prompt is a run: text, calls with their status, and an end', async () => {
  const { agent, told, text, greet, opened, prompt, closed } = editor()
  const { authMethods, ...greeting } = await greet()
  expect(greeting).toMatchObject({ protocolVersion: 1, agentCapabilities: { loadSession: true } })
  expect(await agent.request('authenticate', { methodId: authMethods![0]!.id })).toEqual({})
  const workspace = folder.workspace()
  const { sessionId, modes } = await opened(workspace)
  expect(modes).toMatchObject({
    currentModeId: 'interactive',
    availableModes: [{ id: 'interactive' }, { id: 'batch' }],
  })
  await agent.request('session/set_mode', { sessionId, modeId: 'batch' })
  expect(await prompt(sessionId, 'both of them')).toEqual({ stopReason: 'end_turn' })
  expect(text()).toContain('both written')
  const calls = told.filter((u) => u.sessionUpdate === 'tool_call')
  expect(calls).toMatchObject([
    {
      title: 'write_file one.txt',
      kind: 'edit',
      status: 'in_progress',
      locations: [{ path: join(workspace, 'one.txt') }],
    },
    { title: 'read_file one.txt', kind: 'read' },
    { kind: 'edit' },
  ])
  for (const { toolCallId } of calls)
    expect(told).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' }),
    )
  // The run bears the session's id, and the next prompt is a run that knows of it.
  expect(await prompt(sessionId, 'finish that')).toEqual({ stopReason: 'end_turn' })
  expect((await closed()).code).toBe(0)
  const first = await show(sessionId)
  expect(first.run).toMatchObject({ status: 'completed', workspace, task: 'both of them' })
  const runs = JSON.parse((await folder.look('runs', 'list', '-o', 'json')).out) as { runId: string; task: string }[]
  const next = runs.find(({ task }) => task === 'finish that')!
  const sent = (await folder.look('request', next.runId, '--turn', '1', '-o', 'json')).out
  for (const known of [sessionId, 'both of them', 'both written']) expect(sent).toContain(known)
})

test.each([
  ['approved', 'write approved', true],
  ['rejected', 'write rejected', false],
] as const)('a call that waits for an approval is asked about: %s', async (answer, result, written) => {
  const { asked, told, text, greet, opened, prompt, closed } = editor({ answer })
  await greet()
  const workspace = folder.workspace()
  const { sessionId } = await opened(workspace)
  expect(await prompt(sessionId, 'write it')).toEqual({ stopReason: 'end_turn' })
  expect(asked).toMatchObject([
    { sessionId, toolCall: { title: 'write_file hello.txt', kind: 'edit', status: 'pending' } },
  ])
  expect(asked[0]!.options.map(({ kind }) => kind)).toEqual(['allow_once', 'reject_once'])
  expect(JSON.stringify(asked[0]!.toolCall.content)).toContain('hello')
  expect(text()).toContain(result)
  expect(told.filter((u) => u.sessionUpdate === 'tool_call').map(({ status }) => status)).toEqual(['pending'])
  expect(existsSync(join(workspace, 'hello.txt'))).toBe(written)
  await closed()
  const events = (await folder.look('events', sessionId, '-o', 'jsonl')).out.split('\n').filter(Boolean)
  const decided = events.map((line) => JSON.parse(line)).find(({ type }) => type === 'approval_decided')
  expect(decided).toMatchObject({ actor: { kind: 'approver', id: 'ada' }, payload: { decision: answer } })
})

test('a run that asks gets the next prompt as its input', async () => {
  const { text, greet, opened, prompt, closed } = editor()
  await greet()
  const { sessionId } = await opened(folder.workspace())
  expect(await prompt(sessionId, 'ask me')).toEqual({ stopReason: 'end_turn' })
  expect(text()).toContain('Which?')
  expect(await prompt(sessionId, 'the blue one')).toEqual({ stopReason: 'end_turn' })
  expect(text()).toContain('the blue one')
  await closed()
  expect((await show(sessionId)).run).toMatchObject({ status: 'completed', summary: 'the blue one' })
})

test('cancel ends the run; the session goes on with the next prompt', async () => {
  const { agent, told, greet, opened, prompt, closed } = editor()
  await greet()
  const { sessionId } = await opened(folder.workspace())
  const answer = prompt(sessionId, 'wait for it')
  await expect.poll(() => told.some((u) => u.sessionUpdate === 'tool_call')).toBe(true)
  await expect(prompt(sessionId, 'finish')).rejects.toThrow('at work')
  await agent.notify('session/cancel', { sessionId })
  expect(await answer).toEqual({ stopReason: 'cancelled' })
  expect(await prompt(sessionId, 'finish now')).toEqual({ stopReason: 'end_turn' })
  await closed()
  expect((await show(sessionId)).run).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } })
})

test('a permission that is cancelled decides nothing and ends the run', async () => {
  const { greet, opened, prompt, closed } = editor({ answer: 'cancelled' })
  await greet()
  const { sessionId } = await opened(folder.workspace())
  expect(await prompt(sessionId, 'write it')).toEqual({ stopReason: 'cancelled' })
  await closed()
  const events = (await folder.look('events', sessionId, '-o', 'jsonl')).out
  expect(events).not.toContain('approval_decided')
  expect((await show(sessionId)).run.error.code).toBe('CANCELLED')
})

test('a session is loaded by another process, with its history, and goes on', async () => {
  const before = editor()
  await before.greet()
  const workspace = folder.workspace()
  const { sessionId } = await before.opened(workspace)
  await before.prompt(sessionId, 'finish one')
  await before.prompt(sessionId, 'ask again')
  await before.closed()
  const { agent, told, text, greet, prompt, closed } = editor()
  await greet()
  await agent.request('session/load', { sessionId, cwd: workspace, mcpServers: [] })
  const people = told.flatMap((u) =>
    u.sessionUpdate === 'user_message_chunk' && u.content.type === 'text' ? [u.content.text.trim()] : [],
  )
  expect(people).toEqual(['finish one', 'ask again'])
  expect(text()).toContain('finish one')
  expect(await prompt(sessionId, 'green')).toEqual({ stopReason: 'end_turn' })
  expect(text()).toContain('green')
  await expect(
    agent.request('session/load', { sessionId: 'nowhere', cwd: workspace, mcpServers: [] }),
  ).rejects.toThrow()
  await expect(prompt('nowhere', 'x')).rejects.toThrow()
  await closed()
})

test('what fails is told as an error, and what cannot be asked is refused', async () => {
  const { agent, greet, opened, prompt, closed } = editor()
  await greet()
  const { sessionId } = await opened(folder.workspace())
  await expect(prompt(sessionId, 'fail')).rejects.toThrow('NO_COMPLETION')
  await expect(prompt(sessionId, '  ')).rejects.toThrow('no text')
  await expect(agent.request('session/set_mode', { sessionId, modeId: 'yolo' })).rejects.toThrow('no such mode')
  await expect(opened('here')).rejects.toThrow('absolute')
  await closed()
})

test('an editor that ends in the middle leaves a run that goes on', async () => {
  const { told, greet, opened, prompt, closed } = editor()
  await greet()
  const { sessionId } = await opened(folder.workspace())
  const answer = prompt(sessionId, 'wait for it')
  answer.catch(() => undefined)
  await expect.poll(() => told.some((u) => u.sessionUpdate === 'tool_call')).toBe(true)
  expect((await closed()).code).toBe(0)
  expect((await show(sessionId)).run.status).toBe('active')
})

test("a role's phases are the plan", async () => {
  const { told, greet, opened, prompt, closed } = editor({ args: ['--role', 'coder'] })
  await greet()
  const { sessionId } = await opened(folder.workspace())
  await prompt(sessionId, 'ask me')
  expect(told.find((u) => u.sessionUpdate === 'plan')).toMatchObject({
    entries: [
      { content: 'understand', status: 'in_progress' },
      { content: 'plan', status: 'pending' },
      { content: 'implement' },
      { content: 'verify' },
    ],
  })
  await closed()
})
