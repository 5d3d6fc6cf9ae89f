import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AiEnvelopeRequest,
  createKeepUp,
  type DelegateToAgentInput,
  type ErrorRecoveryPolicy,
  type KeepUp,
  type KeepUpOptions,
  type ModelProvider,
  openKeepUp,
  policyOf,
  type RoleInput,
  type RuntimeEvent,
} from '../../../api/index.ts'
import type { Tool } from '../../../api/library/tool-kit.ts'
import { addTodo } from '../../support/add-todo.ts'
import { freshFolders } from '../../support/folders.ts'

// The package as a program uses it: real adapters in a temporary folder, a scripted model.

const scripts = {
  todo: {
    script: 1,
    turns: [
      { text: 'Adding it.', calls: [{ tool: 'todo__add', arguments: { line: 'buy milk' } }] },
      { calls: [{ tool: 'complete_task', arguments: { summary: `On the list: \${lastResult}` } }] },
    ],
  },
  asks: {
    script: 1,
    turns: [
      { calls: [{ tool: 'ask_user', arguments: { question: 'Which?' } }] },
      { calls: [{ tool: 'complete_task', arguments: { summary: `Took \${lastInput}` } }] },
    ],
  },
} satisfies KeepUpOptions['scripts']

let folders: ReturnType<typeof freshFolders>
let opened: KeepUp[]
beforeEach(() => {
  folders = freshFolders()
  opened = []
})
afterEach(async () => {
  for (const keepup of opened) await keepup.close()
  folders.remove()
})

async function open(more: Partial<KeepUpOptions> = {}): Promise<KeepUp> {
  const keepup = await openKeepUp({ data: folders.data, scripts, by: 'ada', ...more })
  opened.push(keepup)
  return keepup
}

async function all(events: AsyncIterable<RuntimeEvent>): Promise<RuntimeEvent[]> {
  const found: RuntimeEvent[] = []
  for await (const event of events) found.push(event)
  return found
}

describe('keepup as a library', () => {
  it('names the ports that are missing', () => {
    expect(() => createKeepUp({} as never)).toThrow(/no runtime, log, blobs,.* close; .*use openKeepUp/)
  })

  it('starts, drives and follows a run with a tool of its own, whose schema is in the log', {
    tags: ['git'],
  }, async () => {
    const keepup = await open({ tools: [addTodo] })
    const { runId } = await keepup.start({ task: 'Milk', model: 'scripted:todo', workspace: folders.ws })
    const following = all(keepup.follow(runId))
    const words: string[] = []
    expect(await keepup.drive(runId, { onText: (text) => words.push(text) })).toEqual({ end: 'done' })
    expect(words.join('')).toBe('Adding it.')
    expect(readFileSync(join(folders.ws, 'TODO.md'), 'utf8')).toBe('buy milk\n')

    const events = await following
    expect(events.map((e) => e.revision)).toEqual(events.map((_, i) => i))
    expect(events.map((e) => e.type)).toEqual(expect.arrayContaining(['turn_start', 'tool_call_start', 'completion']))
    const started = events.find((e) => e.type === 'agent_started')
    const { spec } = started!.payload as { spec: { tools: { name: string }[] } }
    expect(spec.tools.find((tool) => tool.name === 'todo:add')).toEqual(addTodo.spec)
    expect(events.find((e) => e.type === 'tool_call_end')?.payload).toMatchObject({
      toolName: 'todo:add',
      success: true,
      result: { lines: 1 },
    })

    expect(await keepup.run(runId)).toMatchObject({ status: 'completed', summary: 'On the list: {"lines":1}' })
    expect(await keepup.checkpoint(runId, 1)).toMatchObject({
      threadId: runId,
      step: 1,
      completedToolResults: [{ name: 'todo:add', success: true }],
    })
    expect(await keepup.checkpoint(runId, 99)).toBeNull()
    expect((await keepup.services.runtime.verify(runId)).ok).toBe(true)
    const middle = events[4]
    expect(await all(keepup.follow(runId, { after: middle!.cursor }))).toEqual(events.slice(5))
    expect(await all(keepup.follow(runId, { after: events.at(-1)!.cursor }))).toEqual([])
  })

  it('tells a model what a default stands for, not that it must be given', () => {
    expect(addTodo.spec.parameters).toMatchObject({ required: ['line'] })
  })

  it('waits for a person, takes what they say, and goes on after it was closed', async () => {
    const first = await open()
    const { runId } = await first.start({ task: 'Choose', model: 'scripted:asks' })
    expect(await first.drive(runId)).toMatchObject({ end: 'waiting', for: 'input' })
    const following = all(first.follow(runId))
    await first.close()
    expect((await following).at(-1)?.type).not.toBe('completion')

    const second = await open()
    await second.say(runId, { kind: 'input', text: 'the blue one' }, { by: 'bob' })
    expect(await second.drive(runId)).toEqual({ end: 'done' })
    const input = (await all(second.follow(runId))).filter((e) => e.type === 'user_input').at(-1)
    expect(input).toMatchObject({ agentId: 'user:bob', turn: 0, payload: { text: 'the blue one' } })
    expect((await second.run(runId))?.summary).toBe('Took the blue one')
  })

  it('finds the run again that a key has started, and refuses the key for another', async () => {
    const keepup = await open()
    const asked = { task: 'Choose', model: 'scripted:asks', key: 'k1' }
    const { runId } = await keepup.start(asked)
    expect(await keepup.start(asked)).toMatchObject({ runId, created: false })
    await expect(keepup.start({ ...asked, task: 'Other' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
  })

  it('takes the interfaces of the specification as they stand there', async () => {
    const keepup = await open({ tools: [addTodo] })
    const { runId } = await keepup.start({
      task: 'Choose',
      model: 'scripted:asks',
      execution: {
        policy: 'batch',
        allowedTools: ['todo:*', 'read_file'],
        requiresApproval: ['read_file'],
        maxParallel: 2,
      },
      security: {
        allowedTools: ['todo:add'],
        deniedTools: ['run_command'],
        requiresApproval: ['todo:add'],
        sandboxed: false,
        secretPatterns: [/acme-\d+/g],
      },
      recovery: { graceTurns: 1, graceTimeoutMs: 5000, warningTemplate: 'Last turn', hardLimit: false },
      retry: { maxRetries: 1, backoffMs: 5, backoffMultiplier: 3, retryableErrors: ['NETWORK'] },
      context: { maxTokens: 50_000, compressionThreshold: 0.7, preserveLastN: 3, compressionStrategy: 'truncate' },
    })
    const { spec } = (await keepup.services.runtime.at(runId, null)).state
    expect(spec.policy).toMatchObject({
      mode: 'batch',
      allowedTools: ['todo:add'],
      deniedTools: ['run_command'],
      requiresApproval: ['read_file', 'todo:add'],
      maxParallel: 2,
      sandboxed: false,
      secretPatterns: ['acme-\\d+'],
    })
    expect(spec.recovery).toEqual({
      graceTurns: 1,
      graceTimeoutMs: 5000,
      warningTemplate: 'Last turn',
      hardLimit: false,
    })
    expect(spec.retry).toMatchObject({
      maxRetries: 1,
      backoffMs: 5,
      backoffMultiplier: 3,
      retryableErrors: ['NETWORK'],
    })
    expect(spec.context).toEqual({
      maxTokens: 50_000,
      compressionThreshold: 0.7,
      preserveLastN: 3,
      compressionStrategy: 'truncate',
    })
    expect(spec.limits.maxTurns).toBe(25)
  })

  it('allows what both lists allow', () => {
    const allowed = (a: string[], b: string[]) => policyOf({ allowedTools: a }, { allowedTools: b }).allowedTools
    expect(allowed(['*'], ['a', 'b:*'])).toEqual(['a', 'b:*'])
    expect(allowed(['b:x', 'c'], ['b:*', 'd'])).toEqual(['b:x'])
    expect(allowed([], ['*'])).toEqual([])
    expect(policyOf({}, {})).toEqual({})
    expect(() => policyOf({}, { secretPatterns: [/x/i] })).toThrow('flag "i" is not recorded')
  })

  it('calls a model provider of the program, with limits and a price from the settings', async () => {
    const asked: string[] = []
    const acme: ModelProvider = {
      id: 'acme',
      async call({ model, tools }, { onText }) {
        asked.push(model)
        onText?.('Done.')
        const input = { summary: `of ${tools.length > 0 ? 'tools' : 'none'}` }
        return {
          content: [{ type: 'tool_use', id: 'c1', name: 'complete_task', input }],
          stopReason: 'tool_use',
          usage: { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 },
          servedBy: 'acme-1',
        }
      },
    }
    const price = { asOf: '2026-01-01', input: 2, output: 4 }
    const keepup = await open({ providers: { acme }, models: [{ id: 'own:acme', price }] })
    const { runId } = await keepup.start({ task: 'Do it', model: 'own:acme' })
    expect(await keepup.drive(runId)).toEqual({ end: 'done' })
    expect(asked).toEqual(['acme'])
    expect(await keepup.run(runId)).toMatchObject({ summary: 'of tools', own: { usd: 2 } })
    await expect(keepup.start({ task: 'Do it', model: 'own:other' })).rejects.toThrow('no provider "other"')
  })

  it('takes roles with their phases and gates as objects, in place of files and built-in roles', async () => {
    const coder: RoleInput = {
      ...{ name: 'coder', profile: 'Coder', goal: 'Code' },
      phases: [{ name: 'work', allowedTools: ['read_file'] }],
      qualityGates: [{ after: 'work', check: 'lint', argv: ['npm', 'run', 'lint'] }],
      maxReactLoop: 3,
    }
    const keepup = await open({ roles: [coder] })
    const { roles } = await keepup.listRoles()
    const found = roles.filter(({ name }) => name === 'coder')
    expect(found).toHaveLength(1)
    expect(JSON.stringify(found)).toContain('"lint"')
    await expect(open({ roles: [{ ...coder, phases: [] }] })).rejects.toThrow('roles[0]: phases')
    await expect(open({ roles: [coder, coder] })).rejects.toThrow('two are called "coder"')
  })

  it('refuses bad input with what to do', async () => {
    await expect(open({ tools: [{ ...addTodo, spec: { ...addTodo.spec, name: 'todo' } } as Tool] })).rejects.toThrow(
      'tools[0]: spec.name: "todo" needs a server before it',
    )
    await expect(open({ tools: [addTodo, addTodo] })).rejects.toThrow('tools[1]: another tool looks like "todo__add"')
    await expect(open({ colour: 'red' } as object)).rejects.toThrow('unknown option "colour"; known are home, data,')
    await expect(open({ concurrency: 0 })).rejects.toThrow('bad value for "concurrency"')
    await expect(open({ model: 5 as never })).rejects.toThrow('bad value for "model" (command line)')
    await expect(openKeepUp({} as never)).rejects.toThrow('data: name a folder')
    const keepup = await open()
    await expect(keepup.start({ task: 'x', colour: 'red' } as never)).rejects.toThrow('unknown key "colour"')
    await expect(keepup.start({ policy: {}, security: {} })).rejects.toThrow(
      'give either policy, or execution and security',
    )
    await expect(keepup.start({ model: 'scripted:asks', tools: ['fly'] })).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
    })
    await expect(keepup.say('no-such', { kind: 'pause' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(all(keepup.follow('no-such'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(open()).rejects.toMatchObject({
      code: 'LOG_LOCKED',
      message: expect.stringContaining('name another folder'),
    })
  })

  it('is reached by the command line of another process while it has the folder', async () => {
    const keepup = await open()
    const { runId } = await keepup.start({ task: 'Choose', model: 'scripted:asks' })
    await keepup.drive(runId)
    const cli = join(import.meta.dirname, '../../../api/cli/keepup.js')
    const said = new Promise<{ code: number; err: string }>((resolve) =>
      execFile(process.execPath, [cli, '--data', folders.data, '--by', 'eve', 'input', runId, 'red'], (error, _, err) =>
        resolve({ code: error ? 1 : 0, err }),
      ),
    )
    expect(await said).toMatchObject({ code: 0 })
    expect(await keepup.drive(runId)).toEqual({ end: 'done' })
    expect((await keepup.run(runId))?.summary).toBe('Took red')
  })
})

describe('a callback of the program', () => {
  it.each([
    [
      'at once',
      () => {
        throw new Error('mine')
      },
    ],
    [
      'in its promise',
      async () => {
        throw new Error('mine')
      },
    ],
  ])(
    'that throws %s ends neither the run nor the process; the drive tells it at its end',
    { tags: ['git'] },
    async (_, onText) => {
      const keepup = await open({ tools: [addTodo] })
      const { runId } = await keepup.start({ task: 'Milk', model: 'scripted:todo', workspace: folders.ws })
      await expect(keepup.drive(runId, { onText })).rejects.toThrow('mine')
      expect(await keepup.run(runId)).toMatchObject({ status: 'completed' })
      expect(await keepup.drive(runId, { onText })).toEqual({ end: 'done' })
    },
  )
})

describe('the interfaces of the design, by their names', () => {
  it('have its shapes; signatures of failures cannot be given to a run', async () => {
    const retry: ErrorRecoveryPolicy = {
      maxRetries: 3,
      backoffMs: 5,
      backoffMultiplier: 2,
      backoffCapMs: 50,
      retryableErrors: ['NETWORK'],
      errorSignatureCache: new Set(),
    }
    const input = { role: 'coder', task: 'x', constraints: [], expectedOutput: 'y' } satisfies DelegateToAgentInput
    const preconditions = [{ span_id: 's', if_match_context_hash: 'h' }]
    const envelope = {
      doc_frontier: '',
      client_request_id: 'r',
      ops_xml: '',
      preconditions,
    } satisfies AiEnvelopeRequest
    expect([input.role, envelope.doc_frontier]).toEqual(['coder', ''])
    const keepup = await open()
    const { runId } = await keepup.start({ task: 'x', model: 'scripted:asks', retry })
    const { errorSignatureCache, ...recorded } = retry
    const { spec } = (await keepup.services.runtime.at(runId, null)).state
    expect(spec.retry).toEqual({ ...recorded, modelOutageMs: 3_600_000 })
    errorSignatureCache.add('seen')
    const refused = keepup.start({ task: 'x', model: 'scripted:asks', retry })
    await expect(refused).rejects.toMatchObject({ code: 'SIGNATURES_REFUSED' })
  })
})
