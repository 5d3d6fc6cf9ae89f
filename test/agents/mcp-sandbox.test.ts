import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { McpPool } from '../../adapters/mcp/pool.ts'
import { McpServers } from '../../adapters/mcp/settings.ts'
import { processes } from '../../adapters/sandbox/process-table.ts'
import { CLONE, fake, opened } from '../support/mcp/servers.ts'
import { toolContext } from '../support/network/web-server.ts'

const folders = () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-mcp-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [data, ws] = [join(root, 'data'), join(root, 'ws')]
  for (const folder of [data, ws]) mkdirSync(folder)
  writeFileSync(join(data, 'token'), 'of keepup')
  return { data, ws }
}

describe('a server in the sandbox', { tags: ['bubblewrap'] }, () => {
  test('changes the folder of its run alone, and sees neither temporary files nor hidden ones', async () => {
    const { data, ws } = folders()
    const hidden = vi.fn(async () => [data])
    const { call } = await opened({ fake: fake() }, { cwd: ws, hidden })
    expect(hidden).toHaveBeenCalledWith(ws)
    expect((await call('fake:write', { words: 'note' })).content).toBe('written')
    expect(readFileSync(join(ws, 'note'), 'utf8')).toBe('written')
    expect((await call('fake:read', { words: join(data, 'token') })).content).toBe('ENOENT')
    expect((await call('fake:write', { words: '/etc/keepup-test' })).content).toBe('EROFS')
    expect((await call('fake:write', { words: join(CLONE, 'keepup-test') })).content).toBe('EROFS')
  })

  test('sees nothing of what is hidden in the folder of its run', async () => {
    const { ws } = folders()
    const inside = join(ws, 'data')
    mkdirSync(inside)
    for (const folder of [inside, ws]) writeFileSync(join(folder, 'token'), 'of keepup')
    const { call } = await opened({ fake: fake() }, { cwd: ws, hidden: async () => [inside] })
    expect((await call('fake:read', { words: join(ws, 'token') })).content).toBe('of keepup')
    expect((await call('fake:read', { words: join(inside, 'token') })).content).toBe('ENOENT')
  })

  test('has no network unless its settings grant it', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await vi.waitFor(() => expect(server.address()).not.toBeNull())
    const words = `${(server.address() as { port: number }).port}`
    const { call } = await opened({ without: fake(), granted: fake('normal', { network: true }) })
    expect((await call('without:connect', { words })).content).toBe('ECONNREFUSED')
    expect((await call('granted:connect', { words })).content).toBe('connected')
  })

  test('cannot change the repository in its folder', async () => {
    const { ws } = folders()
    mkdirSync(join(ws, '.git'))
    writeFileSync(join(ws, '.git', 'config'), '[core]\n')
    const { call } = await opened({ fake: fake() }, { cwd: ws })
    expect((await call('fake:write', { words: join(ws, '.git', 'config') })).content).toBe('EROFS')
  })

  test('reads the paths that are declared for all programs in the sandbox', async () => {
    const { ws } = folders()
    const bare = fake('normal', { readable: [] })
    const words = join(CLONE, 'package.json')
    const { call } = await opened({ fake: bare }, { cwd: ws, readable: [CLONE] })
    expect((await call('fake:read', { words })).content).toContain('"name"')
    expect((await call('fake:write', { words })).content).toBe('EROFS')
  })

  test('is outside of it where its settings say so', async () => {
    const { data, ws } = folders()
    const { call } = await opened(
      { fake: fake('normal', { sandboxed: false }) },
      { cwd: ws, hidden: async () => [data] },
    )
    expect((await call('fake:read', { words: join(data, 'token') })).content).toBe('of keepup')
  })

  test('whose program it would hide is refused with the setting to change, and so is one that starts at the root', async () => {
    const { ws } = folders()
    writeFileSync(join(ws, 'server'), '#!/bin/sh\n', { mode: 0o755 })
    const program = () => join(ws, 'server')
    const { warnings } = await opened({ away: fake(), rooted: fake('normal', { cwd: '/' }) }, { program })
    expect(warnings.sort()).toEqual([
      expect.stringMatching(/^MCP server "away" cannot start: the sandbox hides its program .*"readable"/),
      expect.stringMatching(/^MCP server "rooted" cannot start: it would change the whole machine/),
    ])
  })

  test('leaves no process behind, also where it and what it starts ignore signals', async () => {
    const { ws } = folders()
    const started = () => processes().filter(({ environment }) => environment().includes(`PWD=${ws}\0`))
    const servers = await opened({ stubborn: fake('stubborn') }, { cwd: ws })
    expect(started()).not.toEqual([])
    await servers.close()
    expect(started()).toEqual([])
  })
})

test('where there is no sandbox a server is refused by its name, unless it is to run outside', async () => {
  const path = vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin')
  onTestFinished(() => path.mockRestore())
  const { call, warnings } = await opened({
    inside: fake('normal', { sandboxed: true }),
    outside: fake('normal', { sandboxed: false }),
  })
  expect(warnings).toEqual([
    expect.stringMatching(
      /^MCP server "inside" cannot be confined: .*Install bubblewrap, or set "sandboxed": false for this/,
    ),
  ])
  expect((await call('outside:echo', { words: 'hi' })).content).toBe('you said hi')
})

test('a server ends with its run; a run that only rests finds it as it was', async () => {
  const { ws } = folders()
  const clock = {
    now: Date.now,
    sleep: (ms: number) => (ms === 0 ? Promise.resolve() : new Promise<void>(() => undefined)),
  }
  const pool = new McpPool({
    settings: McpServers.parse({ fake: fake() }),
    program: () => process.execPath,
    secret: async () => '',
    env: process.env,
    hidden: async () => [],
    dataFolder: ws,
    clock,
    version: '1',
  })
  onTestFinished(() => pool.close())
  const pid = async () => {
    const lease = await pool.lease('fake', ws)
    const { content } = await lease
      .tools()
      .find(({ spec }) => spec.name === 'fake:pid')!
      .run({}, toolContext())
    return { pid: content, lease }
  }
  const alive = () => processes().some(({ environment }) => environment().includes(`PWD=${ws}\0`))
  const first = await pid()
  first.lease.release()
  const second = await pid()
  expect(alive()).toBe(true)
  second.lease.release(true)
  await vi.waitFor(() => expect(alive()).toBe(false), 10_000)
  expect((await pid()).pid).toBeTypeOf('string')
})
