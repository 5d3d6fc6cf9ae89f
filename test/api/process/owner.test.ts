// @module-tag git
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, type TestContext } from 'vitest'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { localBackend } from '../../../api/process/owner/local.ts'
import { socketFetch } from '../../../api/process/owner/socket-fetch.ts'
import { chooseSocketPath, findSocketPath, MAX_SOCKET_PATH } from '../../../api/process/owner/socket-path.ts'
import { cliFolder, idIn } from '../support/cli.ts'
import { giveSign } from '../support/script.ts'

/** Removed, with its processes, when the very test is over: among concurrent tests only its own context knows. */
const newFolder = ({ onTestFinished }: TestContext) => {
  const folder = cliFolder()
  onTestFinished(() => folder.clean())
  return folder
}

// Many processes at once: on a busy machine each takes its time to start.
describe.concurrent('the owner of a data folder', { timeout: 240_000 }, () => {
  it('is asked by other processes over its socket: they record, it drives', async (context) => {
    const folder = newFolder(context)
    const owner = folder.start(folder.waits(folder.workspace()))
    await owner.said('thinking')
    const id = idIn(owner.err())
    expect((await folder.look('runs', '-o', 'json')).out).toContain('"driving": true')
    const cancelled = await folder.look('cancel', id)
    // It is driven: there is nothing to type next.
    expect([cancelled.code, cancelled.err]).toEqual([0, ''])
    const { code, err } = await owner.ended
    expect([code, err.includes('the run was cancelled')]).toEqual([3, true])
    expect(existsSync(join(folder.data, 'owner.sock'))).toBe(false)
  })

  it('streams to a client the run that it drives for it', async (context) => {
    const folder = newFolder(context)
    const owner = folder.start(folder.waits(folder.workspace()))
    await owner.said('thinking')
    const { code, out, err } = await folder.run('run', 'finish elsewhere', '--no-workspace')
    expect([code, out]).toEqual([0, 'finish elsewhere\n'])
    expect(err).toContain('complete_task')
    owner.process.kill('SIGINT')
    expect((await owner.ended).code).toBe(8)
  })

  it('hands its other runs to their clients when it ends', async (context) => {
    const folder = newFolder(context)
    const owner = folder.start(folder.waits(folder.workspace()))
    await owner.said('thinking')
    const workspace = folder.workspace()
    const client = folder.start(folder.waits(workspace, 'wait please'))
    await client.said('thinking')
    owner.process.kill('SIGINT')
    expect((await owner.ended).code).toBe(8)
    giveSign(workspace)
    const { code, out, err } = await client.ended
    expect([code, out]).toEqual([0, 'wait please\n'])
    expect(err.match(/DONE/g)).toHaveLength(1)
  })

  it('is replaced when it is killed: the client takes the lock and goes on, the stale socket does not matter', async (context) => {
    const folder = newFolder(context)
    const owner = folder.start(folder.waits(folder.workspace()))
    await owner.said('thinking')
    const workspace = folder.workspace()
    const client = folder.start(folder.waits(workspace, 'wait please'))
    await client.said('thinking')
    owner.process.kill('SIGKILL')
    await owner.ended
    giveSign(workspace)
    const { code, out } = await client.ended
    expect([code, out]).toEqual([0, 'wait please\n'])
    const claims = (await folder.look('events', idIn(client.err()), '-o', 'jsonl')).out.match(
      /"type":"driver_claimed"/g,
    )
    expect(claims).toHaveLength(2)
  })

  it('leaves a socket file behind when killed, which does no harm', async (context) => {
    const folder = newFolder(context)
    const owner = folder.start(folder.waits(folder.workspace()))
    await owner.said('thinking')
    owner.process.kill('SIGKILL')
    await owner.ended
    expect(existsSync(join(folder.data, 'owner.sock'))).toBe(true)
    expect((await folder.look('run', 'finish', '--no-workspace')).code).toBe(0)
    expect((await folder.look('runs')).code).toBe(0)
  })

  it('that is stopped is reported within seconds; reading goes on without it', async (context) => {
    const folder = newFolder(context)
    const owner = folder.start(folder.waits(folder.workspace()))
    await owner.said('thinking')
    const id = idIn(owner.err())
    owner.process.kill('SIGSTOP')
    const refused = await folder.hasty('cancel', id)
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('does not answer')
    const read = await folder.hasty('runs', '-o', 'json')
    expect([read.code, read.out.includes(id), read.err.includes('reading it directly')]).toEqual([0, true, true])
    owner.process.kill('SIGCONT')
    expect((await folder.look('cancel', id)).code).toBe(0)
    expect((await owner.ended).code).toBe(3)
  })

  it('that is stopped while it drives for a client is reported too', async (context) => {
    const folder = newFolder(context)
    const owner = folder.start(folder.waits(folder.workspace()))
    await owner.said('thinking')
    const patience = { KEEPUP_OWNER_TIMEOUT_MS: '4000' }
    const client = folder.start(folder.waits(folder.workspace(), 'wait too'), { env: patience })
    await client.said('thinking')
    owner.process.kill('SIGSTOP')
    const { code, err } = await client.ended
    expect([code, err.includes('does not answer')]).toEqual([1, true])
  })

  it('serves until it is told to end, and drives what others record', async (context) => {
    const folder = newFolder(context)
    const server = folder.start(['serve', '--port', '0'])
    await server.said('serving')
    const url = /http:\S+/.exec(server.err())![0]
    const token = readFileSync(join(folder.data, 'token'), 'utf8').trim()
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${url}/v1/runs`)).status).toBe(401)
    expect((await fetch(`${url}/v1/runs`, { headers })).status).toBe(200)
    const waiting = await folder.run('run', 'write', '-w', folder.workspace(), '--tools', 'write_file')
    expect(waiting.code).toBe(8)
    const id = idIn(waiting.err)
    const stream = await fetch(`${url}/v1/events?run=${id}&type=completion`, { headers })
    expect((await folder.look('approve', `${id}.t1.c0`)).code).toBe(0)
    let text = ''
    for await (const chunk of stream.body!) {
      text += Buffer.from(chunk).toString()
      if (text.includes('write approved')) break
    }
    const second = await folder.look('serve', '--port', '0')
    expect([second.code, second.err.includes('another process owns')]).toEqual([1, true])
    server.process.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  it('that ends with a decision recorded but not answered is followed by one that is asked the same', async (context) => {
    const folder = newFolder(context)
    const { code, err } = await folder.look('run', 'write', '-w', folder.workspace(), '--tools', 'write_file')
    expect(code).toBe(8)
    const id = idIn(err)
    const config = loadConfig({ flags: { data: folder.data }, env: { KEEPUP_MODEL: folder.env.KEEPUP_MODEL } })
    const services = await openServices(config, 'owner', { autoDrive: false })
    const runtime: typeof services.runtime = Object.create(services.runtime, {
      execute: {
        value: async (...asked: Parameters<typeof services.runtime.execute>) => {
          await services.runtime.execute(...asked)
          void owner.close()
          // Its answer never comes.
          return new Promise(() => undefined)
        },
      },
    })
    const options = { config, env: {}, tcp: false, onFault: () => undefined }
    const owner = await localBackend({ ...services, runtime }, options)
    const approved = await folder.look('approve', `${id}.t1.c0`)
    expect([approved.code, approved.err.includes('OWNER_GONE')]).toEqual([0, false])
    const decided = (await folder.look('events', id, '-o', 'jsonl')).out.match(/"type":"approval_decided"/g)
    expect(decided).toHaveLength(1)
  })

  it('asks for the token on its socket too', async (context) => {
    const folder = newFolder(context)
    const owner = folder.start(folder.waits(folder.workspace()))
    await owner.said('thinking')
    const status = async (token: string) => {
      const asked = new Request('http://localhost/v1/runs', { headers: { authorization: `Bearer ${token}` } })
      return (await socketFetch(findSocketPath(folder.data), asked)).status
    }
    const path = join(folder.data, 'token')
    const first = readFileSync(path, 'utf8').trim()
    const other = 'x'.repeat(43)
    expect([await status(other), await status(first)]).toEqual([401, 200])
    // A token that is replaced or deleted changes at once.
    writeFileSync(path, `${other}\n`, { mode: 0o600 })
    expect([await status(other), await status(first)]).toEqual([200, 401])
    rmSync(path)
    expect(await folder.look('runs')).toMatchObject({ code: 0 })
    const made = readFileSync(path, 'utf8').trim()
    expect([await status(made), await status(other), made === first]).toEqual([200, 401, false])
    // What holds no token is none.
    writeFileSync(path, '\n', { mode: 0o600 })
    expect([await status(made), await status('')]).toEqual([401, 401])
  })

  it('another listener is not taken for an owner', async (context) => {
    const folder = newFolder(context)
    mkdirSync(folder.data)
    const foreign = createServer((socket) => socket.end('220 mail\r\n')).listen(join(folder.data, 'owner.sock'))
    await once(foreign, 'listening')
    expect((await folder.look('run', 'finish', '--no-workspace')).code).toBe(0)
    foreign.close()
  })
})

describe('where the socket lies', () => {
  it('is the data folder, or a short recorded place where that is too deep', async (context) => {
    const folder = newFolder(context)
    const deep = join(folder.root, 'd'.repeat(60), 'e'.repeat(60))
    mkdirSync(deep, { recursive: true })
    const env = { XDG_RUNTIME_DIR: folder.root }
    const short = chooseSocketPath(deep, env)
    expect(Buffer.byteLength(short)).toBeLessThanOrEqual(MAX_SOCKET_PATH)
    // Who looks for it may have another runtime directory.
    expect(findSocketPath(deep)).toBe(short)
    const owner = folder.start(folder.waits(folder.workspace()), { data: deep, env })
    await owner.said('thinking')
    const cancelled = folder.start(['cancel', idIn(owner.err())], { data: deep })
    expect((await cancelled.ended).code).toBe(0)
    expect((await owner.ended).code).toBe(3)
    mkdirSync(folder.data)
    expect(chooseSocketPath(folder.data, env)).toBe(join(folder.data, 'owner.sock'))
  })
})
