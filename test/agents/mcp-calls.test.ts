import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { fake, type Opened, opened } from '../support/mcp/servers.ts'
import { hasBubblewrap } from '../support/programs/bubblewrap.ts'

let servers: Opened
beforeEach(async () => {
  servers = await opened({
    fake: fake('normal', { env: ['SHARED', 'ABSENT'], secretEnv: { API_KEY: 'FAKE_KEY' }, effects: { fail: 'pure' } }),
  })
})

test('the tools of a server are named after it, with their schemas and effect classes', async () => {
  expect(servers.warnings).toEqual([])
  expect(servers.tool('fake:echo').spec).toMatchObject({
    description: 'Says it again.',
    parameters: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
    timeLimitMs: 80_000,
    control: false,
  })
  const effects = ['echo', 'note', 'fire', 'liar', 'fail'].map((name) => servers.tool(`fake:${name}`).spec.effect)
  expect(effects).toEqual(['pure', 'idempotent', 'irreversible', 'irreversible', 'pure'])
})

describe('a result', () => {
  test.each<[string, object, unknown]>([
    ['echo', { words: 'hello' }, 'you said hello'],
    ['structured', {}, { degrees: 21 }],
    [
      'image',
      {},
      [
        { type: 'text', text: 'a dot' },
        { type: 'image', base64: 'iVBORw0KGgo=', mime: 'image/png', bytes: 8 },
      ],
    ],
    ['large-image', {}, [{ type: 'image', mime: 'image/png', bytes: 300_000, note: 'too large to be shown' }]],
    [
      'resource',
      {},
      [
        { type: 'resource', uri: 'x://a', mime: 'text/plain', text: 'inside' },
        { type: 'resource', uri: 'x://b', mime: 'application/octet-stream', base64: 'AAEC', bytes: 3 },
      ],
    ],
    ['link', {}, [{ type: 'resource_link', uri: 'x://c', name: 'c' }]],
  ])('of %s is given as a model can read it', async (name, args, content) => {
    expect(await servers.call(`fake:${name}`, args as never)).toEqual({ content, detail: { untrusted: 'mcp' } })
  })

  test('that is long is handed over whole: the runtime redacts it before it shows a part', async () => {
    const { content, whole } = await servers.call('fake:long')
    expect(content).toBe('')
    expect(whole).toBe('line of text\n'.repeat(10_000))
  })

  test('comes after its progress, which is told as it comes', async () => {
    const output: string[] = []
    const result = await servers.call('fake:progress', {}, { onOutput: (text) => output.push(text) })
    expect(result.content).toBe('done')
    expect(output.join('')).toBe('1/2 step 1\n2/2 step 2\n')
  })
})

describe('a failure', () => {
  test.each<[string, object]>([
    ['fail', { code: 'EXECUTION_FAILED', message: 'no such city', transient: false }],
    ['refuse', { code: 'EXECUTION_FAILED', message: expect.stringContaining('not today'), transient: false }],
    ['bad-arguments', { code: 'INVALID_ARGUMENTS', message: expect.stringContaining('words: expected text') }],
    ['drop', { code: 'EXECUTION_FAILED', transient: false }],
  ])('of %s is a ToolError', async (name, expected) => {
    expect(await servers.call(`fake:${name}`)).toMatchObject({ name: 'ToolError', ...expected })
  })

  test('of a call that is aborted is the reason of the abort', async () => {
    const ending = new AbortController()
    const call = servers.call('fake:slow', {}, { signal: ending.signal })
    ending.abort(new Error('cancelled by a person'))
    expect(await call).toMatchObject({ message: 'cancelled by a person' })
  })

  test('of a call that is never answered is its time limit', async () => {
    const { call } = await opened({ quick: fake('normal', { timeoutMs: 50 }) })
    expect(await call('quick:slow')).toMatchObject({ code: 'TIMEOUT', transient: true })
  })
})

describe('a process', () => {
  test('gets the variables that the settings name, and no others', async () => {
    const { content } = await servers.call('fake:env')
    const { PATH: _, HOME: __, KEEPUP_COMMAND: ___, PWD: ____, TMPDIR: _____, ...env } = JSON.parse(content)
    expect(env).toEqual({ SHARED: 'yes', API_KEY: 'value of FAKE_KEY' })
  })

  test('starts in the folder that the settings name, else in that of the run', async () => {
    const temporary = hasBubblewrap ? '/tmp' : realpathSync(tmpdir())
    expect((await servers.call('fake:cwd')).content).toBe(temporary)
    const { call } = await opened({ rooted: fake('normal', { cwd: '/', sandboxed: false }) })
    expect((await call('rooted:cwd')).content).toBe('/')
  })

  test('that dies fails its call with its last words, and the next call starts it again after a wait', async () => {
    const [died, beside] = await Promise.all([servers.call('fake:die'), servers.call('fake:slow')])
    for (const failure of [died, beside])
      expect(failure).toMatchObject({
        code: 'EXECUTION_FAILED',
        transient: true,
        beforeEffect: false,
        message: expect.stringMatching(
          /^MCP server "fake" exited with 3; its last words: out of luck during the call$/,
        ),
      })
    expect(servers.clock.waits).toEqual([])
    expect((await servers.call('fake:echo', { words: 'again' })).content).toBe('you said again')
    expect(servers.clock.waits).toEqual([500])
  })
})

describe('a list of tools that changes', () => {
  test('is told, and a tool that has changed or gone is not called as it was offered before', async () => {
    const before = { fire: servers.tool('fake:fire'), note: servers.tool('fake:note'), echo: servers.tool('fake:echo') }
    const changed = servers.changed()
    await servers.call('fake:change')
    expect(await changed).toBe('fake')
    const call = (tool: typeof before.fire, args = {}) =>
      tool.run(args, {
        runId: 'r',
        agentId: 'a',
        toolCallId: 'c',
        attempt: 1,
        signal: new AbortController().signal,
        workspace: null,
        sandbox: null,
      })
    await expect(call(before.fire)).rejects.toMatchObject({ code: 'CONFLICT', beforeEffect: true })
    await expect(call(before.note)).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND', beforeEffect: true })
    expect((await call(before.echo, { words: 'x' })).content).toBe('you said x')
    expect(servers.tool('fake:fire').spec.description).toBe('Now fires twice.')
  })
})

test('a server of the newer protocol era, made with the official package, is called in that era', async () => {
  const { call, tool, warnings } = await opened({
    official: fake('', { command: ['node', join(import.meta.dirname, '../support/mcp/official-server.ts')] }),
  })
  expect(warnings).toEqual([])
  expect(tool('official:add').spec).toMatchObject({ effect: 'pure', parameters: { required: ['a', 'b'] } })
  expect((await call('official:add', { a: 1, b: 2 })).content).toBe('3, in the modern era')
})
