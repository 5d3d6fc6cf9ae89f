import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { CODER_SOP } from '../../../domain/agent/definition/roles.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { CommandRejected, ModelError, ToolError } from '../../../domain/calls/errors.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import type { ModelOutcome, Tool, Workspace } from '../../../domain/ports/index.ts'
import { call, calls, completes, harness, MemoryBlobs, type TestPorts, testSpec, toolSpec } from '../harness.ts'
import { VirtualClock } from '../time/virtual-clock.ts'
import { memoryVault } from './memory-vault.ts'

// Every string that a person, a model or a tool can enter, by name. One of them contains the planted text.

export const PLACES = [
  ...['task', 'instructions', 'variable', 'variable key', 'warning', 'role goal', 'gate', 'retryable', 'pattern'],
  ...['workspace', 'model id', 'secret name', 'test command', 'tool description'],
  ...['by', 'key', 'correlation', 'trace'],
  ...[
    'input',
    'pause reason',
    'standing tool',
    'standing reason',
    'start approve',
    'approval reason',
    'approval call',
    'doubt result',
  ],
  ...['doubt call', 'doubt reason', 'cancel reason', 'erase reason', 'fork by', 'fork folder', 'fork key'],
  ...['answer text', 'thinking', 'block kind', 'block member', 'call id', 'tool name', 'argument', 'argument key'],
  ...[
    'raw arguments',
    'raw key twice',
    'served by',
    'request id',
    'model error',
    'model error cut',
    'model code',
    'streamed',
  ],
  ...['content', 'content json', 'detail', 'changed', 'created', 'output', 'tool error', 'tool code', 'drift', 'link'],
  ...['way out', 'evidence', 'artifact', 'summary', 'context key', 'context value'],
] as const
export type Place = (typeof PLACES)[number]

export interface Told {
  /** All written and published text. */
  readonly written: string
  /** Refused requests, by code. */
  readonly refused: readonly string[]
}

/** A run with text at every place: `text` at one place, and the secret `known`. */
export async function tell(place: Place, text: string, known: string): Promise<Told> {
  const at = (name: Place, otherwise: string) => (name === place ? text : otherwise)
  const { secrets } = await openBoundary(memoryVault({ PLANTED: known }), [], {
    secrets: [],
    policy: testSpec().policy,
  })
  const published: string[] = []
  const refused: string[] = []
  const blobs = new MemoryBlobs()
  const snapshots: string[] = []
  const workspace = folder(at)
  const began = Promise.withResolvers<void>()
  const tools = [sends(at), asks(at), hangs(began.resolve)]
  const ports: TestPorts = {
    clock: new VirtualClock(),
    feed: { publish: ({ text: shown }) => published.push(shown) },
    snapshots: {
      latest: async () => null,
      put: async (_, __, { state }) => void snapshots.push(JSON.stringify(state)),
      clear: async () => undefined,
    },
    secrets: async () => secrets,
    environment: async () => ({ workspace, sandbox: null, secrets, reap: async () => {}, close: async () => {} }),
  }
  const answers = said(at)
  const h = harness(() => completes(), { tools, blobs, ports: { ...ports, provider: () => provider(answers, at) } })
  const by: Actor = { kind: 'user', id: at('by', 'tester'), claimed: true }
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof CommandRejected)) throw error
      refused.push(error.code)
    }
  }
  let key = 0
  const ask = (runId: string, command: object, more: object = {}) =>
    attempt(() =>
      h.runtime.execute(runId, command as never, {
        by,
        key: `${at('key', 'k')}-${key++}`,
        correlationId: at('correlation', 'c'),
        trace: at('trace', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'),
        ...more,
      }),
    )
  const drive = (runId: string) => attempt(() => h.drive(runId))

  await ask('r', { kind: 'start', spec: specOf(at, tools), task: at('task', 'do it') })
  await ask('r', {
    kind: 'standing_approval',
    tools: [at('standing tool', 'look')],
    reason: at('standing reason', 'x'),
  })
  await ask('r', { kind: 'pause', reason: at('pause reason', 'x') })
  await ask('r', { kind: 'resume' })
  await ask('r', { kind: 'input', text: at('input', 'x') })
  await drive('r')
  const approve = { kind: 'decide_approval', toolCallId: at('approval call', 'r.t1.c0'), decision: 'approved' }
  await ask('r', { ...approve, reason: at('approval reason', 'x') })
  await drive('r')
  await drive('r')
  // A run that ends with an unknown outcome of a call.
  await ask('r3', { kind: 'start', spec: testSpec({}, tools), task: 'x' })
  answers.unshift(calls(call('hang')))
  const driven = drive('r3')
  await began.promise
  await ask('r3', { kind: 'cancel', deadlineMs: 10 })
  await driven
  const doubt = { kind: 'resolve_doubt', decision: 'happened', result: { said: at('doubt result', 'x') } }
  await ask('r3', { ...doubt, toolCallId: at('doubt call', 'r3.t1.c0'), reason: at('doubt reason', 'x') })
  await ask('r', { kind: 'erase', revision: 4, reason: at('erase reason', 'x') })
  const fork = { path: at('fork folder', '/x'), tree: null }
  const forker = { by: { ...by, id: at('fork by', 'x') }, key: at('fork key', 'x') }
  await ask('r2', { kind: 'start', spec: testSpec(), task: 'x' })
  await ask('r4', { kind: 'start', spec: testSpec(), task: 'x', approve: [at('start approve', 'look')] })
  await ask('r2', { kind: 'cancel', reason: at('cancel reason', 'x'), deadlineMs: 10 })
  await attempt(() => h.runtime.fork('r2', null, { workspace: fork }, forker))

  const all: string[] = [published.join(''), ...snapshots]
  for await (const page of h.log.readAll(null))
    for (const { header, body } of page) {
      all.push(JSON.stringify(header), body === null ? '' : Buffer.from(body).toString())
    }
  for (const bytes of blobs.held.values()) all.push(Buffer.from(bytes).toString())
  return { written: all.join('\n'), refused }
}

type At = (name: Place, otherwise: string) => string

function specOf(at: At, tools: readonly Tool[]) {
  const role = {
    ...CODER_SOP,
    goal: at('role goal', 'work'),
    phases: [{ name: 'only', allowedTools: ['*'] }],
    qualityGates: [{ after: 'only', check: at('gate', 'tests_exist') }],
  }
  const spec = testSpec(
    {
      role,
      policy: { requiresApproval: ['send'], secretPatterns: [at('pattern', 'zzzz')] },
      recovery: { warningTemplate: at('warning', 'Final warning') },
      retry: { backoffMs: 10, retryableErrors: [at('retryable', 'NETWORK')] },
      instructions: at('instructions', 'x'),
      contextVariables: { [at('variable key', 'k')]: at('variable', 'v') },
      workspace: { path: at('workspace', '/somewhere'), tree: 't1' },
      testCommand: ['run', at('test command', 'x')],
      secrets: [{ name: at('secret name', 'PLANTED'), reference: `secret:ku_${'0'.repeat(26)}` }],
    },
    tools,
  )
  const [model] = spec.models.known
  return {
    ...spec,
    models: { ...spec.models, known: [...spec.models.known, { ...model!, id: at('model id', 'other') }] },
    tools: spec.tools.map((tool) => ({ ...tool, description: `${tool.description} ${at('tool description', '')}` })),
  }
}

/** The model's answers, call by call. */
function said(at: At): (Partial<ModelOutcome> | Error)[] {
  const odd = { type: at('block kind', 'citation'), more: { [at('block member', 'a')]: at('block member', 'b') } }
  const send = call('send', { [at('argument key', 'what')]: at('argument', 'x'), where: 'a/b' }, at('call id', 'id1'))
  const content: Block[] = [
    { type: 'text', text: at('answer text', 'x') },
    { type: 'thinking', thinking: at('thinking', 'x'), signature: 's' },
    odd,
    send,
  ]
  const raw = { type: 'tool_use', id: 'id2', name: 'ask', input_text: `{"what": ${at('raw arguments', 'x')}` } as const
  const twice = { ...raw, input_text: `{"what": ${JSON.stringify(at('raw key twice', 'x'))}, "what": "y"}` }
  const code = at('model code', 'NETWORK').toUpperCase()
  // A cut at 600 characters would keep all but the last character of this text.
  const cut = at('model error cut', 'x')
  const long = `${at('model error', 'x')} `.padEnd(601 - cut.length, '-') + cut
  const failed = Object.assign(new ModelError('NETWORK', long, { transient: true }), { code })
  return [
    { content, stopReason: 'tool_use', servedBy: at('served by', 'm'), requestId: at('request id', 'q') },
    failed,
    calls(call('ask', {})),
    calls(raw),
    calls(twice),
    calls(call(at('tool name', 'nothing'), {})),
    calls(call('set_context', { key: at('context key', 'k'), value: at('context value', 'v') })),
    calls(call('complete_task', { summary: at('summary', 'done'), artifacts: [at('artifact', 'a')] })),
    calls(call('complete_task', { summary: at('summary', 'done'), artifacts: [at('artifact', 'a')] })),
  ]
}

function provider(answers: (Partial<ModelOutcome> | Error)[], at: At) {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
  return {
    id: 'test',
    call: async (_: unknown, { onText }: { onText?: (text: string) => void }): Promise<ModelOutcome> => {
      for (const letter of at('streamed', 'x')) onText?.(letter)
      const answer = answers.shift() ?? completes()
      if (answer instanceof Error) throw answer
      return { content: [], stopReason: 'end_turn', usage, servedBy: 'm', ...answer }
    },
  }
}

const sends = (at: At): Tool => ({
  spec: toolSpec('send', { effect: 'irreversible', paths: { where: 'write' } }),
  run: async (_, { onOutput }) => {
    for (const letter of at('output', 'x')) onOutput?.(letter)
    return {
      content: { said: at('content', 'x'), json: JSON.stringify({ deeper: at('content json', 'x') }) },
      detail: { said: at('detail', 'x') },
      changed: [`a/${at('changed', 'x')}`],
      created: [`a/${at('created', 'x')}`],
    }
  },
})

const hangs = (began: () => void): Tool => ({
  spec: toolSpec('hang', { effect: 'irreversible' }),
  run: () => {
    began()
    return new Promise(() => undefined)
  },
})

const asks = (at: At): Tool => ({
  spec: toolSpec('ask', { effect: 'irreversible' }),
  run: async () => {
    const error = new ToolError('CONFLICT', at('tool error', 'x'))
    throw Object.assign(error, { code: at('tool code', 'CONFLICT').toUpperCase() })
  },
})

function folder(at: At): Workspace {
  const missing = () => Promise.reject(new ToolError('RESOURCE_NOT_FOUND', 'x'))
  return {
    path: '/somewhere',
    resolve: async () => {
      const out = at('way out', '')
      if (out !== '') throw new ToolError('SANDBOX_VIOLATION', `${out} leads out`)
      return `a/${at('link', 'x')}`
    },
    read: async () => new Uint8Array(3),
    write: missing,
    list: missing,
    exists: missing,
    search: async () => ({ matches: [], truncated: false }),
    versions: {
      snapshot: async () => 't2',
      changes: async () => [{ path: `test/${at('drift', 'x')}${at('evidence', 'y')}.test.ts`, change: 'added' }],
      diff: missing,
      read: missing,
      restore: missing,
      materialize: missing,
    },
  }
}
