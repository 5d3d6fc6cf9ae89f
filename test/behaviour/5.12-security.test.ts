import { describe, expect, test } from 'vitest'
import { openBoundary } from '../../api/process/host/secret-boundary.ts'
import { CODER_SOP } from '../../domain/agent/definition/roles.ts'
import type { Block } from '../../domain/calls/content.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import { unsalted } from '../../domain/log/seal.ts'
import type { ModelRequest, Sandbox } from '../../domain/ports/index.ts'
import type { SecretBoundary } from '../../domain/ports/runtime.ts'
import { reference } from '../../domain/secrets/redactor.ts'
import type { AgentSpec } from '../../domain/tree/spec.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { memoryVault } from '../support/secrets/memory-vault.ts'
import { given, tool } from '../support/story.ts'

describe('5.12.1 the tools are filtered by role and policy', () => {
  test('offered is phase ∩ policy ∩ role, plus control tools', async () => {
    const names = ['read_file', 'search_code', 'list_dir', 'write_file', 'run_command']
    const run = await given({
      says: [completes()],
      tools: names.map((name) => tool(name)),
      spec: { role: CODER_SOP, policy: { deniedTools: ['search_code'] }, recovery: {} },
    })
    await run.drive()
    expect(run.offered(0)).toEqual([
      'complete_task',
      'advance_phase',
      'set_context',
      'ask_user',
      'read_file',
      'list_dir',
    ])
  })
})

describe('5.12.2 sensitive tools need approval in interactive mode', () => {
  test.each(['write_file', 'run_command'])('%s', async (name) => {
    const one = tool(name, { effect: 'irreversible' })
    const run = await given({ says: [calls(call(name)), completes()], tools: [one] })
    expect(await run.drive()).toMatchObject({ for: 'approval' })
    expect(one.ran).toEqual([])
  })
})

describe('5.12.4 tool inputs are sanitized before execution', () => {
  const broken: [string, Block][] = [
    ['NUL', call('look', { path: 'a\0b' })],
    ['half of a surrogate pair', call('look', { deep: [{ text: '\ud800' }] })],
    ['a NUL in a key', call('look', { 'a\0': 1 })],
    ['__proto__', call('look', JSON.parse('{"a":{"__proto__":{"admin":true}}}'))],
    ['no JSON', { ...call('look'), input_text: '{"path":' }],
    ['a key that stands twice', { ...call('look'), input_text: '{"path":"a","path":"b"}' }],
    ['no object', { ...call('look'), input: [1] as never }],
    ['a variable of too long a name', call('set_context', { key: 'k'.repeat(257), value: 1 })],
    ['more than 1 MiB', call('look', { path: 'x'.repeat((1 << 20) + 1) })],
  ]
  test.each(broken)('%s never reaches the tool', async (_, block) => {
    const look = tool('look')
    const run = await given({ says: [calls(block), completes()], tools: [look] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(look.ran).toEqual([])
    expect(await run.ends()).toEqual([`${block.name}: INVALID_ARGUMENTS`, 'complete_task: ok'])
  })

  test('a path that leads out of the workspace is SANDBOX_VIOLATION, before the tool runs', async () => {
    const read = tool('read_file', { paths: { path: 'read' } })
    const run = await given({ says: [calls(call('read_file', { path: '../secret' })), completes()], tools: [read] })
    await run.drive()
    expect(read.ran).toEqual([])
    expect(await run.ends()).toEqual(['read_file: SANDBOX_VIOLATION', 'complete_task: ok'])
  })
})

describe('5.12.5 no secret appears in the log', () => {
  const VALUE = 'hunter22-hunter22'
  const hidden = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(VALUE, 'REF')) as T
  const boundary: SecretBoundary = {
    text: hidden,
    json: hidden,
    arguments: (_, args) => hidden(args),
    result: hidden,
    holdsKnown: (text) => text.includes(VALUE),
    stream: () => ({ push: hidden<string>, end: () => '' }),
    texts: () => ({ push: (text) => [hidden(text)], end: () => [] }),
    keep: async () => undefined,
    refresh: async () => undefined,
    resolve: async (args) => JSON.parse(JSON.stringify(args).replaceAll('REF', VALUE)) as typeof args,
  }

  test('whether a person, the model, a tool or an error says it; the tool is given the value', async () => {
    const news: string[] = []
    const look = tool('look', {}, (args) => ({ said: args.key, nested: [{ token: VALUE }] }))
    const fails = tool('fails', {}, () => {
      throw new Error(`401 for ${VALUE}`)
    })
    const run = await given({
      says: [
        { content: [{ type: 'text', text: `I know ${VALUE}` }, call('look', { key: VALUE })], stopReason: 'tool_use' },
        calls(call('set_context', { key: 'k', value: VALUE })),
        calls(call('fails', {})),
        new ModelError('NETWORK', `no route for ${VALUE}`, { transient: true }),
        completes(`it was ${VALUE}`),
      ],
      task: `use ${VALUE}`,
      tools: [look, fails],
      ports: {
        secrets: async () => boundary,
        environment: async () => ({
          workspace: null,
          sandbox: null,
          secrets: boundary,
          reap: async () => undefined,
          close: async () => undefined,
        }),
        feed: { publish: ({ text }) => void news.push(text) },
      },
    })
    await run.say({ kind: 'input', text: `again: ${VALUE}` })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(look.ran).toEqual([{ key: VALUE }])
    let bytes = ''
    for await (const page of run.log.read(`agent-${run.runId}`))
      for (const { header, body } of page) bytes += JSON.stringify(header) + new TextDecoder().decode(unsalted(body!))
    expect(bytes).not.toContain(VALUE)
    expect(bytes.split('REF').length).toBeGreaterThan(8)
    expect(JSON.stringify(run.requests)).not.toContain(VALUE)
    expect(news.join('')).not.toContain(VALUE)
  })

  test('a run is told which secrets it was given and what to write for one; a tool gets the value, which was not shown before', async () => {
    const vault = memoryVault({ DEPLOY_KEY: VALUE })
    const secrets = [{ name: 'DEPLOY_KEY', reference: reference(await vault.referenceKey(), VALUE) }]
    const open = async (spec: Pick<AgentSpec, 'secrets' | 'policy'>) => (await openBoundary(vault, [], spec)).secrets
    const nothing = async () => undefined
    const told = ({ system }: ModelRequest) => /^- DEPLOY_KEY: (secret:ku_\w{26})$/m.exec(system)?.[1] ?? 'not told'
    const commands = tool('run_command', { effect: 'irreversible' }, ({ command }) => `ran ${String(command)}`)
    const files = tool('write_file', { effect: 'idempotent' })
    const run = await given({
      says: [
        (request) => calls(call('run_command', { command: `login -p ${told(request)}` })),
        (request) => calls(call('write_file', { path: 'key', content: told(request) })),
        completes(),
      ],
      tools: [commands, files],
      spec: { secrets, policy: { mode: 'batch' } },
      ports: {
        secrets: open,
        environment: async (spec) => ({
          ...{ workspace: null, sandbox: null, secrets: await open(spec), reap: nothing, close: nothing },
        }),
      },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(commands.ran).toEqual([{ command: `login -p ${VALUE}` }])
    expect(files.ran).toEqual([{ path: 'key', content: VALUE }])
    let bytes = ''
    const named: unknown[] = []
    for await (const page of run.log.read(`agent-${run.runId}`))
      for (const { header, body } of page) {
        const text = new TextDecoder().decode(unsalted(body!))
        bytes += JSON.stringify(header) + text
        if (header.type === 'model_call_end') named.push(JSON.parse(text).calls[0].secrets)
      }
    // Which secrets each call was given is recorded, by name and reference.
    const sent = (to: string) => [{ ...secrets[0], to }]
    expect(named).toEqual([sent('command login'), sent('tool write_file'), undefined])
    expect(bytes).toContain(`ran login -p ${secrets[0]!.reference}`)
    expect(bytes + JSON.stringify(run.requests)).not.toContain(VALUE)
    // What it was given is its fork's as well.
    const { runId } = await run.runtime.fork(run.runId, null, {}, { by: USER })
    expect((await run.runtime.at(runId, null)).state.spec.secrets).toEqual(secrets)
  })

  test('what became a secret while a tool was at it is hidden in what it gives back, or fails with', async () => {
    let [set, known] = [false, false]
    const now = <T>(value: T): T => (known ? hidden(value) : value)
    const later: SecretBoundary = {
      ...boundary,
      ...{ text: now, json: now, result: now, arguments: (_, args) => now(args) },
      refresh: async () => {
        known = set
      },
    }
    const nothing = async () => undefined
    const environment = async () => ({ workspace: null, sandbox: null, secrets: later, reap: nothing, close: nothing })
    const gives = tool('gives', {}, () => {
      set = true
      return VALUE
    })
    const fails = tool('fails', {}, () => {
      set = true
      throw new Error(VALUE)
    })
    for (const one of [gives, fails]) {
      ;[set, known] = [false, false]
      const says = [calls(call(one.spec.name)), completes()]
      const run = await given({ says, tools: [one], ports: { environment, secrets: async () => later } })
      await run.drive()
      expect(JSON.stringify(run.requests)).toContain('REF')
      expect(JSON.stringify(run.requests)).not.toContain(VALUE)
    }
  })

  test('what a tool reads of a command has gone through a filter, one of its own for each output', async () => {
    const filters: object[] = []
    const exec: Sandbox['exec'] = async (_command, _signal, _told, filter) => {
      const [out, err] = [filter!(), filter!()]
      filters.push(out, err)
      const ended = { exitCode: 0, signal: null, timedOut: false, stdoutBytes: 1, stderrBytes: 1, durationMs: 1 }
      return { ...ended, stdout: out.push(VALUE), stderr: err.push(VALUE) }
    }
    const heard: string[] = []
    const runs = tool('runs')
    runs.run = async (_, { sandbox, signal }) => {
      const command = { argv: ['x'], cwd: '.', timeoutMs: 1, network: false }
      const { stdout, stderr } = await sandbox!.exec(command, signal)
      heard.push(stdout, stderr)
      return { content: '' }
    }
    const sandbox: Sandbox = { confined: true, exec }
    const nothing = async () => undefined
    const environment = async () => ({ workspace: null, sandbox, secrets: boundary, reap: nothing, close: nothing })
    const run = await given({ says: [calls(call('runs')), completes()], tools: [runs], ports: { environment } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(heard).toEqual(['REF', 'REF'])
    expect(new Set(filters).size).toBe(2)
  })
})
