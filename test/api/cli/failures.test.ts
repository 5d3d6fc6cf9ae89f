import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder, entry, idIn, inProcess } from '../support/cli.ts'
import { giveSign } from '../support/script.ts'

describe('what cannot be had', { timeout: 120_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())
  const fails = async (args: string[], code: number, says: string, env: Record<string, string> = {}) => {
    const got = await inProcess(['--data', folder.data, ...args], { KEEPUP_MODEL: folder.env.KEEPUP_MODEL, ...env })
    expect([args, got.code, got.out]).toEqual([args, code, ''])
    expect(got.err).toContain(says)
    expect(got.err).not.toMatch(/this should not have happened|\n +at /)
  }

  it('is told with what to do, and no stack', async () => {
    const bad = join(folder.root, 'bad.json')
    writeFileSync(bad, '{"script":1,"turns":[{"txt":"x"}]}')
    await fails(['run', 'x', '--no-workspace', '--model', 'nonesuch'], 2, 'MODEL_NOT_FOUND')
    await fails(['run', 'x', '--no-workspace', '--model', 'scripted:/nowhere.json'], 2, 'SCRIPT_INVALID')
    await fails(['run', 'x', '--no-workspace', '--model', `scripted:${bad}`], 2, 'turns.0: unknown key')
    await fails(['run', 'x', '--no-workspace', '--role', 'poet'], 2, 'there is no role "poet"')
    await fails(['run', 'x', '--no-workspace', '--secret', 'NONE_SUCH'], 2, 'keepup secrets set NONE_SUCH')
    await fails(['run', 'x', '-w', join(folder.root, 'nowhere')], 2, 'make the folder first (WORKSPACE_MISSING)')
    await fails(['run', 'x', '-w', bad], 2, 'WORKSPACE_NOT_A_FOLDER')
    await fails(['run', 'x', '-w', folder.root], 2, 'WORKSPACE_HOLDS_DATA')
    await fails(['secrets', 'set', 'not a name'], 2, 'name: expected the name of a variable')
    await fails(['--data', join(bad, 'x'), 'run', 'x', '--no-workspace'], 1, 'DATA_FOLDER_UNUSABLE')
  })

  it('is a missing key, told by its name only', async () => {
    const keyless = ['run', 'x', '-w', folder.workspace(), '--model', 'claude-sonnet-5-5']
    const { code, err } = await folder.start(keyless).ended
    expect([code, err]).toEqual([2, expect.stringContaining('set ANTHROPIC_API_KEY')])
    // What did not start works nowhere.
    expect(err).not.toContain('works in')
  })

  it('is a vault that others can read', async () => {
    const data = join(folder.root, 'exposed')
    mkdirSync(join(data, 'vault'), { recursive: true })
    chmodSync(join(data, 'vault'), 0o755)
    writeFileSync(join(data, 'vault', 'secrets.json'), '{}', { mode: 0o644 })
    const { code, err } = await inProcess(['--data', data, 'run', 'x', '--no-workspace'])
    expect([code, err]).toEqual([1, expect.stringContaining('VAULT_')])
  })

  it('is a folder in which another run works, and goes on when that has ended', { tags: ['git'] }, async () => {
    const workspace = folder.workspace()
    const first = folder.start(folder.waits(workspace))
    await first.said('thinking')
    const second = await folder.look(...folder.waits(workspace, 'wait too'))
    expect([second.code, second.err]).toEqual([1, expect.stringContaining('WORKSPACE_BUSY')])
    expect(second.err).toContain(`keepup resume ${idIn(second.err)}`)
    giveSign(workspace)
    expect((await first.ended).code).toBe(0)
    expect(await folder.look('resume', idIn(second.err))).toMatchObject({ code: 0, out: 'wait too\n' })
  })

  it('is an address that cannot be listened on', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    try {
      await fails(['serve', '--port', `${port}`], 1, `port ${port}: another process listens there: end it`)
      await fails(['serve', '--port', '0', '--host', '192.0.2.1'], 1, 'no network of this machine has that address')
    } finally {
      taken.close()
    }
  })

  it('is a current folder that is gone', () => {
    const gone = join(folder.root, 'gone')
    mkdirSync(gone)
    const command = `cd "${gone}" && rmdir "${gone}" && "${process.execPath}" "${entry}" --data "${folder.data}" run finish`
    const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8', env: folder.env })
    expect([status, stderr]).toEqual([1, expect.stringContaining('the current folder is gone')])
  })
})

describe('the entry', () => {
  it('checks the version before anything else', () => {
    const source = `Object.defineProperty(process.versions, 'node', { value: '20.1.0' }); await import(${JSON.stringify(`file://${entry}`)})`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
    expect([status, stderr.includes('needs Node.js 24')]).toEqual([1, true])
  })
})
