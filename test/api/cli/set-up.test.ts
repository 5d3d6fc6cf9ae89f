import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { GROUPS } from '../../../api/cli/commands/groups.ts'
import { unreadableKinds } from '../../../api/process/doctor/formats.ts'
import { howToInstall } from '../../../api/process/doctor/install.ts'
import { inProcess } from '../support/cli.ts'

const root = mkdtempSync(join(tmpdir(), 'keepup-set-up-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('init', { tags: ['bubblewrap', 'git'] }, () => {
  const data = join(root, 'new')
  const init = (env: Record<string, string> = {}) => inProcess(['--data', data, 'init'], { HOME: root, ...env })

  it('makes the folder, and names a command that needs no key where there is none', async () => {
    const { code, out, err } = await init()
    expect(code).toBe(0)
    expect(out).toMatch(/^model keys +warning +none is set/m)
    expect(err).toContain(`${data} is ready\n`)
    expect(err).toContain(`next: keepup demo --data ${data}`)
    expect(existsSync(join(data, 'log', 'log.db'))).toBe(true)
  })

  it('changes nothing the second time, and names a run where there is a key', async () => {
    const { code, err } = await init({ ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef' })
    expect(code).toBe(0)
    expect(err).toContain(`next: keepup run "TASK" --data ${data}\n`)
  })
})

describe('upgrade --check', () => {
  const check = async (data: string) => {
    const { code, out, err } = await inProcess(['--data', data, '-o', 'json', 'upgrade', '--check'], { HOME: root })
    return { code, err, found: JSON.parse(out) as { check: string; state: string; found: string; todo: string }[] }
  }

  it('makes nothing where nothing is recorded', async () => {
    const data = join(root, 'never')
    expect(await check(data)).toMatchObject({ code: 0, err: expect.stringContaining('can continue here') })
    expect(existsSync(data)).toBe(false)
  })

  it('names what a newer keepup has written, and ends with 1', async () => {
    const data = join(root, 'newer')
    await inProcess(['--data', data, 'init'], { HOME: root })
    expect(await check(data)).toMatchObject({ code: 0 })
    const db = new DatabaseSync(join(data, 'log', 'log.db'))
    db.exec("INSERT INTO streams(name) VALUES ('dream-1')")
    db.exec(
      "INSERT INTO kinds(type, version, format, media_type, place) VALUES ('slept', 1, 2, 'application/json', 'inline')",
    )
    const { code, err, found } = await check(data)
    expect(code).toBe(1)
    expect(err).toContain('cannot continue here; nothing was changed')
    expect(found.filter(({ state }) => state === 'broken').map((one) => one.found)).toEqual([
      'slept has format 2, this program reads 1',
      'streams "dream" are not known here',
    ])
    db.exec('PRAGMA user_version = 99')
    db.close()
    expect((await check(data)).found.at(-1)).toMatchObject({
      state: 'broken',
      found: expect.stringContaining('has schema 99'),
      todo: 'use a newer keepup',
    })
  })

  it('knows the versions of all events, and no later ones', () => {
    const kind = { type: 'turn_start', version: 1, format: 1, minReader: null }
    expect(unreadableKinds([kind, { ...kind, type: 'of another program' }])).toEqual([])
    expect(unreadableKinds([{ ...kind, version: 99 }])).toEqual([
      expect.stringMatching(/^turn_start has version 99, .*\d$/),
    ])
    expect(unreadableKinds([{ ...kind, minReader: 2 }])).toEqual([
      'turn_start needs reader 2, this program is reader 1',
    ])
  })

  it('is the only thing that upgrade does', async () => {
    const { code, err } = await inProcess(['upgrade'])
    expect([code, err]).toEqual([2, expect.stringContaining('keepup upgrade --check')])
  })
})

it.each([
  ['linux', 'ID=debian', 'bubblewrap', 'sudo apt-get install bubblewrap'],
  ['linux', 'ID=linuxmint\nID_LIKE="ubuntu debian"', 'git', 'sudo apt-get install git'],
  ['linux', 'ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"', 'git', 'sudo zypper install git'],
  ['linux', 'ID=fedora', 'bubblewrap', 'sudo dnf install bubblewrap'],
  ['linux', 'ID=alpine', 'git', 'apk add git'],
  ['linux', '', 'git', 'install the package git of this system'],
  ['darwin', '', 'git', 'brew install git, or xcode-select --install'],
  [
    'darwin',
    '',
    'bubblewrap',
    'bubblewrap works on Linux only; run keepup in a container or a virtual machine with Linux',
  ],
  ['win32', '', 'git', 'winget install Git.Git'],
  ['win32', '', 'bubblewrap', expect.stringContaining('(WSL 2)')],
] as const)('on %s (%j) %s is installed by: %s', (platform, osRelease, program, command) => {
  expect(howToInstall(program, { platform, osRelease })).toEqual(command)
})

it('the manual page has every command, and is plain roff', async () => {
  const { code, out } = await inProcess(['man'])
  expect(code).toBe(0)
  for (const name of GROUPS.flatMap(({ commands }) => commands))
    expect(out).toMatch(new RegExp(`^\\.SS keepup ${name.replaceAll('-', '\\\\-')}( |$)`, 'm'))
  const lines = out.split('\n')
  expect(lines.filter((line) => line.startsWith('.') && !/^\.(TH|SH|SS|TP|B|nf|fi)( |$)/.test(line))).toEqual([])
  expect(lines.filter((line) => line.startsWith("'") || /[^\0-\x7f]/.test(line))).toEqual([])
})
