// @module-tag git
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUnconfined } from '../../../adapters/sandbox/unconfined.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { workspaceTools } from '../../../adapters/workspace/tools/builtin.ts'
import { byteLength } from '../../../domain/calls/truncate.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { ToolContext } from '../../../domain/ports/index.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'
import { freshFolders } from '../../support/folders.ts'
import { longestTurn } from '../../support/time/turns.ts'

let folders: ReturnType<typeof freshFolders>
let context: ToolContext
const tools = new Map(workspaceTools().map((tool) => [tool.spec.name, tool]))
const call = (name: string, args: JsonObject, more: Partial<ToolContext> = {}) => {
  const tool = tools.get(name)
  if (!tool) throw new Error(`no tool ${name}`)
  return tool.run(args, { ...context, ...more })
}
const content = async (name: string, args: JsonObject, more?: Partial<ToolContext>) =>
  (await call(name, args, more)).content
const put = (path: string, data: string | Buffer) => writeFileSync(join(folders.ws, path), data)

beforeEach(async () => {
  folders = freshFolders()
  const workspace = await openWorkspace(folders.ws, { dataFolder: folders.data })
  const sandbox = createUnconfined({ workspace: folders.ws, dataFolder: folders.data, driverId: 'd', graceMs: 100 })
  const { signal } = new AbortController()
  context = { runId: 'r', agentId: 'r', toolCallId: 'r.t1.c0', attempt: 1, signal, workspace, sandbox }
})
afterEach(() => folders.remove())

describe('the tools of a workspace', () => {
  it('describe themselves as strict JSON Schema, with their effects and paths', () => {
    expect([...tools.values()].map(({ spec }) => [spec.name, spec.effect, spec.barrier, spec.paths])).toEqual([
      ['read_file', 'pure', false, { path: 'read' }],
      ['write_file', 'reconcilable', false, { path: 'write' }],
      ['list_dir', 'pure', false, { path: 'list' }],
      ['search_code', 'pure', false, { path: 'list' }],
      ['run_command', 'irreversible', true, { cwd: 'list' }],
    ])
    for (const { spec } of tools.values()) {
      expect(spec.parameters).toMatchObject({ type: 'object', additionalProperties: false })
      expect(spec.parameters.$schema).toBeUndefined()
    }
    expect(tools.get('read_file')?.spec.parameters.required).toEqual(['path'])
  })

  it.each<[string, JsonObject, RegExp]>([
    ['read_file', {}, /^path: /],
    ['read_file', { path: 'f', offset: 0 }, /^offset: /],
    ['read_file', { path: 'f', extra: 1 }, /extra/],
    ['write_file', { path: 'f', content: 'a\0' }, /^content: expected well-formed text/],
    ['write_file', { path: 'f', content: '\ud800' }, /^content: expected well-formed text/],
    ['run_command', { command: ' ' }, /^command: expected a command/],
    ['run_command', { command: 'x', timeoutMs: 0 }, /^timeoutMs: /],
    ['search_code', { query: '' }, /^query: /],
  ])('%s refuses %j by name', async (name, args, message) => {
    await expect(call(name, args)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: expect.stringMatching(message),
    })
  })

  it('need a workspace', async () => {
    await expect(call('read_file', { path: 'f' }, { workspace: null })).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    })
    await expect(call('run_command', { command: 'true' }, { sandbox: null })).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
      beforeEffect: true,
    })
  })
})

describe('read_file', () => {
  it('gives text as it is, or a part of it by lines', async () => {
    put('f', 'one\r\ntwo\nthree\n')
    expect(await content('read_file', { path: 'f' })).toBe('one\r\ntwo\nthree\n')
    expect(await content('read_file', { path: 'f', offset: 2, limit: 1 })).toBe(
      'two\n[lines 2–2 of 3; read on with offset 3]',
    )
    expect(await content('read_file', { path: 'f', offset: 3 })).toBe('three\n[lines 3–3 of 3]')
    await expect(call('read_file', { path: 'f', offset: 4 })).rejects.toThrow('only 3 lines')
    put('empty', '')
    expect(await content('read_file', { path: 'empty' })).toBe('')
  })

  it('shows a long file bounded, and reading on as it says gives every line once', async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i + 1} é`)
    put('long', `${lines.join('\n')}\n`)
    const first = (await content('read_file', { path: 'long' })) as string
    expect(byteLength(first)).toBeLessThanOrEqual(30_720)
    expect(first).toMatch(/^line 1 é\n[\s\S]*the file has 5000 lines; read on with offset \d+ [\s\S]*line 5000 é\n$/)
    const read = first.slice(0, first.indexOf('\n[…')).split('\n')
    let offset = Number(/offset (\d+)/.exec(first)?.[1])
    for (let next = offset; next > 0; offset = next) {
      const part = (await content('read_file', { path: 'long', offset })) as string
      expect(byteLength(part)).toBeLessThanOrEqual(30_720)
      read.push(...part.split('\n').slice(0, -1))
      next = Number(/read on with offset (\d+)/.exec(part)?.[1] ?? 0)
    }
    expect(read).toEqual(lines)
  })

  it('stays bounded and well formed for a line of ten megabytes, broken UTF-8 and binaries', async () => {
    put('line', 'ä'.repeat(5_000_000))
    for (const args of [{ path: 'line' }, { path: 'line', offset: 1 }]) {
      const shown = (await content('read_file', args)) as string
      expect([byteLength(shown) <= 30_720, shown.isWellFormed(), shown.includes('of 10000000 bytes')]).toEqual([
        true,
        true,
        true,
      ])
    }
    put('broken', Buffer.from([97, 255, 98]))
    expect(await content('read_file', { path: 'broken' })).toBe(
      'a\ufffdb\n[3 bytes, some of them no UTF-8: shown as \ufffd]',
    )
    put('small.png', Buffer.from('89504e470d0a1a0a00', 'hex'))
    expect(await content('read_file', { path: 'small.png' })).toEqual({
      base64: 'iVBORw0KGgoA',
      mime: 'image/png',
      bytes: 9,
    })
    put('large', Buffer.alloc(100_000))
    expect(await content('read_file', { path: 'large' })).toMatchObject({
      mime: 'application/octet-stream',
      bytes: 100_000,
    })
  })

  it('hides secrets before it cuts, so that no part of one is left', async () => {
    const secret = 'S'.repeat(50) + 'e'.repeat(50)
    const { redactText } = createRedactor({ key: new Uint8Array(32), known: [secret] })
    put('f', secret.repeat(2_000))
    const shown = (await content('read_file', { path: 'f' }, { redact: (text) => redactText(text).value })) as string
    expect(shown).not.toMatch(/SS|ee/)
  })

  it('hides secrets in every part of a file of several megabytes, so that no part of one is left', async () => {
    const secret = 'S'.repeat(50) + 'e'.repeat(50)
    const redactor = createRedactor({ key: new Uint8Array(32), known: [secret] })
    const secrets = {
      redact: (text: string) => redactor.redactText(text).value,
      redactStream: () => redactor.redactStream(),
    }
    put('f', `${secret.repeat(300)}\n`.repeat(100))
    for (const args of [{ path: 'f' }, { path: 'f', offset: 50 }])
      expect(await content('read_file', args, secrets)).not.toMatch(/SS|ee/)
  })

  it.each([
    ['57 MB of lines', 57, 'lorem ipsum dolor sit\n'],
    ['16 MB of empty lines', 16, '\n'],
    ['16 MB in one line', 16, 'lorem ipsum dolor sit '],
  ])('a file of %s holds the event loop for a short time only', async (_, size, words) => {
    const redactor = createRedactor({ key: new Uint8Array(32), known: ['a-long-secret-value'] })
    const secrets = {
      redact: (text: string) => redactor.redactText(text).value,
      redactStream: () => redactor.redactStream(),
    }
    put('f', Buffer.alloc(size * 2 ** 20, words))
    expect((await longestTurn(() => call('read_file', { path: 'f' }, secrets))).ms).toBeLessThan(500)
  })
})

describe('write_file', () => {
  it('writes, reports the change, and its probe tells whether the write happened', async () => {
    const args = { path: './a/../b/f', content: 'hé\n' }
    const tool = tools.get('write_file')
    expect(await tool?.probe?.(args, context)).toEqual({ found: 'absent' })
    expect(await call('write_file', args)).toMatchObject({
      content: { path: 'b/f', bytes: 4, created: true },
      changed: ['b/f'],
      created: ['b/f'],
    })
    expect(readFileSync(join(folders.ws, 'b/f'), 'utf8')).toBe('hé\n')
    expect(await tool?.probe?.(args, context)).toMatchObject({ found: 'happened', result: { changed: ['b/f'] } })
    expect(await call('write_file', { ...args, content: 'x' })).toMatchObject({
      content: { created: false },
      created: [],
    })
    expect(await tool?.probe?.(args, context)).toEqual({ found: 'absent' })
    await expect(call('write_file', { path: '../f', content: '' })).rejects.toMatchObject({ code: 'SANDBOX_VIOLATION' })
  })
})

describe('list_dir and search_code', () => {
  it('list to a depth, bounded', async () => {
    mkdirSync(join(folders.ws, 'a/b/c'), { recursive: true })
    mkdirSync(join(folders.ws, 'node_modules/m'), { recursive: true })
    put('a/f', '12')
    expect(await content('list_dir', {})).toEqual({
      entries: [
        { path: 'a', type: 'dir' },
        { path: 'node_modules', type: 'dir' },
      ],
      truncated: false,
    })
    expect(await content('list_dir', { path: 'a/.', depth: 5 })).toMatchObject({
      entries: [
        { path: 'a/b', type: 'dir' },
        { path: 'a/b/c', type: 'dir' },
        { path: 'a/f', type: 'file', size: 2 },
      ],
    })
    expect((await content('list_dir', { depth: 3 })) as JsonObject).not.toMatchObject({
      entries: expect.arrayContaining([{ path: 'node_modules/m', type: 'dir' }]),
    })
    for (let i = 0; i < 900; i++) put(`a/${'x'.repeat(40)}${i}`, '')
    const shown = await content('list_dir', { path: 'a' })
    expect(shown).toMatchObject({ truncated: true, note: expect.any(String) })
    expect(byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(30_720)
  })

  it('find lines, bounded', async () => {
    put('f.ts', `needle\n${`${'y'.repeat(1_000)} nail\n`.repeat(200)}`)
    expect(await content('search_code', { query: 'NEEDLE', caseSensitive: false })).toEqual({
      matches: [{ path: 'f.ts', line: 1, text: 'needle' }],
      truncated: false,
    })
    const shown = await content('search_code', { query: 'n[a]il$', regex: true })
    expect(shown).toMatchObject({ truncated: true })
    expect(byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(30_720)
  })
})

describe('the output of search_code', () => {
  const long = 'L0ng'.repeat(600)
  const { redactText } = createRedactor({ key: new Uint8Array(32), known: [long, 'first-line\nsecond-line'] })
  const redact = (text: string) => redactText(text).value
  const shown = async (query: string) => {
    const { matches } = (await content('search_code', { query }, { redact })) as { matches: { text: string }[] }
    return matches.map(({ text }) => text)
  }

  it('hides each line of a secret of many lines', async () => {
    const body = Array.from({ length: 3 }, (_, i) => `${'MIIEvQIBADANBgkqhkiG9w0B'.repeat(2)}${i}`)
    put(
      'key.pem',
      ['-----BEGIN PRIVATE KEY-----', ...body, '-----END PRIVATE KEY-----', 'MIIE of plain text'].join('\r\n'),
    )
    put('two', 'a first-line\nsecond-line b\nfirst-line alone')
    const hidden = expect.stringMatching(/^\[not shown: /)
    expect(await shown('MIIE')).toEqual([hidden, hidden, hidden, 'MIIE of plain text'])
    expect(await shown('-line')).toEqual([hidden, hidden, 'first-line alone'])
  })

  it('is redacted before it is cut to a window, which is around the match', async () => {
    put('long', `${'a'.repeat(700)}${long}${'b'.repeat(700)}needle${'c'.repeat(5_000)}${long}`)
    const [text = ''] = await shown('needle')
    expect(text).toMatch(/^…a+secret:ku_\w{26}b+needlec+…$/)
    expect(text).not.toContain('L0ng')
    expect(text.length).toBeLessThan(2_100)
    expect((await shown('L0ngL0ng'))[0]).toMatch(/^a+secret:ku_\w{26}b+needlec+…$/)
  })

  it('shows a secret of one line as its reference, and hides lines of files that were not searched for secrets', async () => {
    put('env', `TOKEN=${long}\nTOKEN=plain`)
    expect(await shown('TOKEN')).toEqual([expect.stringMatching(/^TOKEN=secret:ku_\w{26}$/), 'TOKEN=plain'])
    for (let n = 0; n < 3; n++) put(`big${n}`, `needle\n${' '.repeat(9_000_000)}`)
    expect(await shown('needle')).toEqual(['needle', 'needle', expect.stringMatching(/^\[not shown: /)])
  })
})
