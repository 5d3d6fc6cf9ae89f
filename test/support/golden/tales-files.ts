import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { CODER_SOP } from '../../../domain/agent/definition/roles.ts'
import { ToolError } from '../../../domain/calls/errors.ts'
import { reference } from '../../../domain/secrets/redactor.ts'
import { call, calls, completes, says, testSpec } from '../harness.ts'
import { memoryVault } from '../secrets/memory-vault.ts'
import { type Said, tool } from '../story.ts'
import { Folder } from './folder.ts'
import { tale } from './tale.ts'
import { until } from './tales-people.ts'

// Files, gates, large bodies and secrets.

/** Tools that write to the folder and run its tests. */
function toolsOf(folder: Folder) {
  const write = tool('write_file', { effect: 'reconcilable', paths: { path: 'write' } }, () => 'written')
  write.run = async ({ path, content }) => {
    const { created } = await folder.workspace.write(String(path), new TextEncoder().encode(String(content)))
    return { content: 'written', changed: [String(path)], ...(created ? { created: [String(path)] } : {}) }
  }
  const run = tool('run_command', { effect: 'irreversible', barrier: true })
  let runs = 0
  run.run = async () => ({ content: 'ran', detail: { exitCode: [1, null, 0][runs++]! } })
  return [tool('read_file', { paths: { path: 'read' } }), write, run]
}

/** The Coder through its phases: failing and passing gates, files, approvals, artifacts of every kind. */
export async function coder() {
  const folder = new Folder({ 'README.md': 'about' })
  const advance = (more: object = {}) => calls(call('advance_phase', { summary: 'on', ...more }))
  const artifacts = ['plan', 'report', 'diagram', 'file'].map((type) => ({ type, title: type, content: `a ${type}` }))
  const write = (path: string, content: string) => calls(call('write_file', { path, content }))
  const test = calls(call('run_command', { command: 'npm test' }))
  const answers = [
    {
      ...says('Let me look.'),
      ...calls({ type: 'text', text: 'Let me look.' }, call('read_file', { path: 'README.md' })),
    },
    advance(),
    advance({ artifacts }),
    write('sum.js', 'a + b'),
    advance(),
    write('test/sum.test.js', 'sum(1, 2)'),
    write('sum.js', 'a+b'),
    advance({ to: 'verify' }),
    test,
    test,
    calls(call('complete_task', { summary: 'sooner' })),
    test,
    calls(call('complete_task', { summary: 'Done.', artifacts: ['sum.js', 'lost.txt'], nextSteps: 'Use it.' })),
  ]
  const tools = toolsOf(folder)
  const spec = {
    role: CODER_SOP,
    policy: {},
    testCommand: ['npm', 'test'],
    workspace: { path: '/project', tree: folder.snapshot() },
    instructions: 'Keep it short.',
    contextVariables: { language: 'js' },
  }
  const run = await tale({ says: answers, tools, spec }, folder.workspace)
  for (let end = await run.drive(); end.end === 'waiting' && end.for === 'approval'; end = await run.drive())
    await run.tell({ kind: 'decide_approval', toolCallId: end.toolCallIds[0]!, decision: 'approved' })
  return run.log
}

/** Files that others change between two drives, failing versions, and groups of calls with a shared version. */
export async function files() {
  const folder = new Folder({ a: '1' })
  const put = tool('put', { effect: 'idempotent', paths: { path: 'write' } })
  put.run = async ({ path, content }) => {
    if (content === 'bad') throw new ToolError('CONFLICT', 'another writer is at work there', { transient: true })
    await folder.workspace.write(String(path), new TextEncoder().encode(String(content)))
    return { content: null, changed: [String(path)] }
  }
  const puts = (...given: string[][]) =>
    calls(...given.map(([path, content], i) => call('put', { path, content }, `c${i}`)))
  const says = [
    puts(['a', '2'], ['b', '1'], ['a', '3']),
    calls(call('ask_user', { question: 'Which?' })),
    puts(['a', 'bad'], ['../out', 'x']),
    puts(['c', '1']),
    completes(),
  ]
  const spec = { policy: { mode: 'batch', maxParallel: 2 }, workspace: { path: '/project', tree: folder.snapshot() } }
  const run = await tale({ says, tools: [put], spec }, folder.workspace)
  await run.drive()
  folder.files.set('b', 'by another writer')
  await run.tell({ kind: 'input', text: 'This.' })
  folder.snapshot()
  const first = folder.snapshot.bind(folder)
  let taken = 0
  folder.snapshot = () => {
    if (++taken > 1) throw new Error('the disk is full')
    return first()
  }
  await run.drive()
  return run.log
}

/** Texts over the body limit of the log, which are stored in blobs. */
export async function blobs() {
  const long = Array.from({ length: 6_900 }, (_, n) => `line ${n}`).join('\n')
  const run = await tale({
    says: [calls(call('look')), completes()],
    tools: [tool('look', {}, () => long)],
    task: long,
  })
  await run.drive()
  return run.log
}

/** Whole results in blobs: one that the agent reads further, and one that arrives after its call was given up. */
export async function results() {
  const long = Array.from({ length: 6_900 }, (_, n) => `line ${n}`).join('\n')
  const sent = Promise.withResolvers<string>()
  const look = tool('look', {}, () => long)
  const send = tool('send', { effect: 'irreversible', timeLimitMs: 2 ** 30 }, () => sent.promise)
  const read: Said = (request) => {
    const [, toolCallId, from] = /toolCallId "(.+)" and from (\d+)/.exec(
      JSON.stringify(request.messages).replaceAll('\\', ''),
    )!
    return calls(call('read_result', { toolCallId: toolCallId!, from: Number(from), length: 100 }))
  }
  const run = await tale({
    says: [calls(call('look')), read, calls(call('send')), completes()],
    tools: [look, send],
    spec: { readsOn: true },
  })
  const first = run.drive()
  await until(() => send.ran.length === 1)
  await run.takeOver()
  await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(3), decision: 'abandon' })
  sent.resolve(long)
  await first
  await run.takeOver()
  return run.log
}

/** A secret in the text of every participant. The log contains its reference. */
export async function secrets() {
  const SECRET = 'hunter2-is-not-in-the-log'
  const vault = memoryVault({ PASSWORD: SECRET })
  const password = { name: 'PASSWORD', reference: reference(await vault.referenceKey(), SECRET) }
  const spec = { secrets: [password, { ...password, host: 'api.example.com' }, { ...password, command: 'git' }] }
  const { secrets: boundary } = await openBoundary(vault, [], testSpec(spec))
  const environment = async () => ({
    ...{ workspace: null, sandbox: null, secrets: boundary },
    reap: async () => undefined,
    close: async () => undefined,
  })
  const send = tool('send', { effect: 'irreversible' }, ({ body }) => ({ sent: body, cookie: 'c=1' }))
  const run = await tale({
    says: [
      { ...calls(call('send', { body: `with ${SECRET}`, token: 'abcdef' })), requestId: SECRET },
      calls(call('set_context', { key: 'password', value: 'open sesame' })),
      calls(call('complete_task', { summary: `sent ${SECRET}` })),
    ],
    tools: [send, tool('search_web', { sendsTo: 'api.example.com' })],
    spec,
    task: `Send ${SECRET}.`,
    ports: { secrets: async () => boundary, environment },
  })
  await run.drive()
  if (run.log.text.includes(SECRET)) throw new Error('a golden history holds a secret')
  return run.log
}
