import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { commandLine, type Ended, keepup, newPlace, type Place, runIdIn } from '../support/faults/cli.ts'
import { factsOf, look } from '../support/faults/inspect.ts'
import { sandboxFlag, scripted } from '../support/faults/jobs.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A fault is reported before anything is recorded, with a remedy and the documented exit code. A later run works. A
// process of its own runs where its end or its user matters; otherwise the command line runs in this one.

const HELLO = 'Hello, this text is looked for in the file.'
const script = {
  script: 1 as const,
  turns: [
    { calls: [{ tool: 'write_file', arguments: { path: 'a.txt', content: HELLO } }] },
    { calls: [{ tool: 'complete_task', arguments: { summary: 'Done.' } }] },
  ],
}

const run = (place: Place, model: string, ...more: string[]) => [
  'run',
  ...['--model', model, '-w', place.workspace, '--approve', 'write_file', ...sandboxFlag, ...more],
  'Write',
]
/** Nothing of a program's inside reaches the user. */
const told = (ended: Ended, code: number, says: string | RegExp) => {
  expect(ended.err).toMatch(says)
  expect({ code: ended.code, out: ended.out }).toEqual({ code, out: expect.any(String) })
  expect(ended.err).not.toMatch(/should not have happened|^ +at /m)
}

describe('a start that cannot be', () => {
  const place = newPlace()
  const ok = scripted(place, script)
  const file = join(place.root, 'a-file')
  afterAll(() => place.remove())
  const bad = (name: string, text: string) => {
    writeFileSync(join(place.root, name), text)
    return `scripted:${join(place.root, name)}`
  }

  test.each<[string, () => string[], number, string]>([
    ['an unknown model', () => run(place, 'nonsense'), 2, 'write anthropic:<name>, openai:<name> or scripted:<file>'],
    ['a missing key', () => run(place, 'claude-sonnet-5-5'), 2, 'set ANTHROPIC_API_KEY'],
    ['a missing key of another', () => run(place, 'openai:gpt-5.6'), 2, 'set OPENAI_API_KEY'],
    ['a missing script', () => run(place, 'scripted:/nowhere.json'), 2, 'give the path of a JSON file'],
    ['half a script', () => run(place, bad('half.json', '{"script":1,')), 2, 'half.json is not JSON'],
    [
      'a malformed script',
      () => run(place, bad('odd.json', '{"script":1,"turns":[{"tol":1}]}')),
      2,
      'turns.0: unknown key',
    ],
    ['a missing workspace', () => run(place, ok, '-w', join(place.root, 'none')), 2, 'make the folder first'],
    ['a file as workspace', () => run(place, ok, '-w', file), 2, 'name the folder it lies in'],
    ['a workspace that holds the data', () => run(place, ok, '-w', place.root), 2, 'name another folder'],
    ['a secret without value', () => run(place, ok, '--secret', 'OTHER_USER_KNOWS'), 2, 'secrets set OTHER_USER_KNOWS'],
    ['an unknown role', () => run(place, ok, '--role', 'juggler'), 2, 'there is no role'],
    ['an unknown run', () => ['resume', 'nosuch'], 2, 'runs list'],
  ])('%s', async (_, args, code, says) => {
    writeFileSync(file, '')
    told(await look(place, ...args()), code, says)
    expect((await factsOf(place)).filter((fact) => fact.stream !== 'log-meta')).toEqual([])
  })

  test('and a normal run works afterwards', { tags: ['git'] }, async () => {
    expect(await keepup(place, run(place, ok))).toMatchObject({ code: 0, out: 'Done.\n' })
  })
})

const ROOT = process.getuid?.() === 0
const OTHER_USER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const

/** Whether another user may run this Node on these sources. */
const otherUserMayRun = (): boolean => {
  const [node, args] = commandLine({ root: '/', data: '/', workspace: '/' }, ['--version'])
  return spawnSync(OTHER_USER[0], [...OTHER_USER.slice(1), node, ...args], { stdio: 'ignore' }).status === 0
}

test('a workspace that may not be read', async (context) => {
  if (ROOT && process.env.CI !== 'true' && !otherUserMayRun())
    context.skip('as root: another user may not read node or the sources; move the clone out of folders of mode 700')
  const place = newPlace()
  const dark = join(place.root, 'dark')
  try {
    const model = scripted(place, script)
    mkdirSync(dark)
    chmodSync(dark, 0o000)
    if (ROOT) for (const path of [place.root, dark]) chownSync(path, 65534, 65534)
    const env = { XDG_CONFIG_HOME: place.root }
    const ended = await keepup(place, run(place, model, '-w', dark), { env, ...(ROOT ? { wrap: OTHER_USER } : {}) })
    told(ended, 2, 'cannot be read (EACCES); check its rights')
  } finally {
    place.remove()
  }
})

test('a workspace that may not be written warns at the start of a run with a tool that writes', {
  tags: ['git'],
}, async (context) => {
  if (ROOT && process.env.CI !== 'true' && !otherUserMayRun())
    context.skip('as root: another user may not read node or the sources; move the clone out of folders of mode 700')
  const place = newPlace()
  try {
    const model = scripted(place, script)
    mkdirSync(place.workspace, { recursive: true })
    chmodSync(place.workspace, 0o555)
    if (ROOT) for (const path of [place.root, place.workspace]) chownSync(path, 65534, 65534)
    const user = { env: { XDG_CONFIG_HOME: place.root }, ...(ROOT ? { wrap: OTHER_USER } : {}) }
    const writes = await keepup(place, run(place, model, '--no-drive'), user)
    told(writes, 0, /^warning: the workspace .* cannot be written \(EACCES\), so write_file will fail; give this user/m)
    const reads = await keepup(place, run(place, model, '--no-drive', '--deny', 'write_file'), user)
    told(reads, 0, /^run /m)
    expect(reads.err).not.toContain('warning:')
  } finally {
    place.remove()
  }
})

test('a file as data folder', async () => {
  const place = newPlace()
  try {
    writeFileSync(place.data, 'mine')
    told(
      await look(place, ...run(place, scripted(place, script))),
      2,
      'is a file; name a folder with --data or KEEPUP_DATA',
    )
    expect(readFileSync(place.data, 'utf8')).toBe('mine')
  } finally {
    place.remove()
  }
})

describe('a data folder that is not as it was', { tags: ['git'] }, () => {
  const place = newPlace()
  const model = scripted(place, script)
  const file = join(place.data, 'log', 'log.db')
  const kept = join(place.root, 'kept.db')
  let runId = ''
  let tell: Ended[] = []
  afterAll(() => place.remove())

  beforeAll(async () => {
    const ended = await look(place, ...run(place, model))
    expect(ended).toMatchObject({ code: 0 })
    runId = runIdIn(ended)
    copyFileSync(file, kept)
  })

  /** Puts something in the log's place, asks, and puts the log back. */
  async function instead(change: (bytes: Buffer) => Buffer, ...commands: string[][]): Promise<void> {
    writeFileSync(file, change(readFileSync(kept)))
    tell = []
    for (const args of commands) tell.push(await look(place, ...args))
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
    copyFileSync(kept, file)
  }
  /** All is there as before. */
  const isWhole = async () => expect(await look(place, 'verify')).toMatchObject({ code: 0, err: '' })
  /** All is there as before, and a run works. Also after the damages of the log, whose tests come first. */
  const works = async () => {
    await isWhole()
    expect(await look(place, ...run(place, model))).toMatchObject({ code: 0, out: 'Done.\n' })
    copyFileSync(file, kept)
  }
  const flipped = (at: (bytes: Buffer) => number, length: number) => (bytes: Buffer) => {
    const from = at(bytes)
    expect(from).toBeGreaterThan(0)
    for (let i = from; i < from + length; i++) bytes[i]! ^= 0xff
    return bytes
  }
  /** A place in a table's first page. */
  const inPageOf = (table: string, offset: number) => () => {
    const db = new DatabaseSync(kept, { readOnly: true })
    try {
      const page = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)!.rootpage as number
      return (page - 1) * 4096 + offset
    } finally {
      db.close()
    }
  }

  test('verify names the place of a byte flipped in a body', async () => {
    await instead(
      flipped((bytes) => bytes.indexOf(HELLO), 1),
      ['verify', runId],
      ['verify'],
    )
    for (const ended of tell) {
      expect(ended).toMatchObject({ code: 5, out: expect.stringMatching(/BROKEN[\s\S]*revision \d+ BODY: /) })
    }
    await isWhole()
  })

  test('verify names the place of bytes flipped among the rows of a page', async () => {
    // A page that was split keeps what moved away: every place where the text stands is changed.
    const changed = (bytes: Buffer) => {
      for (let at = bytes.indexOf('claim:'); at >= 0; at = bytes.indexOf('claim:', at)) bytes[at] = 0x43
      return bytes
    }
    await instead(changed, ['verify', runId])
    expect(tell[0]).toMatchObject({ code: 5, out: expect.stringMatching(/BROKEN[\s\S]*revision \d+ CHAIN: /) })
    await isWhole()
  })

  test('a page that is none: verify says so, nothing is written', async () => {
    await instead(flipped(inPageOf('events', 0), 64), ['verify', runId], ['verify'], run(place, model))
    for (const ended of tell.slice(0, 2)) {
      expect(ended).toMatchObject({ code: 5, err: expect.stringContaining('restore a backup') })
    }
    told(tell[2]!, 1, 'restore a backup')
    await isWhole()
  })

  test('a first page that is none', async () => {
    await instead(
      flipped(() => 1, 50),
      ['verify'],
      run(place, model),
    )
    told(tell[0]!, 5, 'Name another data folder')
    told(tell[1]!, 1, 'Name another data folder')
    await isWhole()
  })

  test("another program's SQLite file is left alone", async () => {
    const foreign = join(place.root, 'foreign.db')
    const db = new DatabaseSync(foreign)
    db.exec("CREATE TABLE t(a); INSERT INTO t VALUES ('theirs')")
    db.close()
    const bytes = readFileSync(foreign)
    await instead(() => bytes, ['runs'], run(place, model))
    for (const ended of tell) told(ended, 1, 'no keepup log; name another folder')
    await isWhole()
  })

  test('one that a newer program wrote', async () => {
    await instead(
      (bytes) => {
        bytes.writeUInt32BE(99, 60)
        return bytes
      },
      ['verify'],
      run(place, model),
    )
    told(tell[0]!, 5, 'use a newer keepup')
    told(tell[1]!, 1, 'use a newer keepup')
    await isWhole()
  })

  test('tables that a newer program wrote, or that are damaged', async () => {
    const tables = join(place.data, 'tables')
    const live = join(tables, readFileSync(join(tables, 'current'), 'utf8').trim())
    const db = new DatabaseSync(live)
    db.exec('PRAGMA user_version = 99999999')
    db.close()
    told(await look(place, ...run(place, model)), 1, 'delete its folder: the tables come back from the log')
    rmSync(tables, { recursive: true })
    await works()
    const again = join(tables, readFileSync(join(tables, 'current'), 'utf8').trim())
    writeFileSync(again, 'no tables')
    await works()
  })

  test('a vault that others can read, or that is no JSON', async () => {
    const secrets = join(place.data, 'vault', 'secrets.json')
    writeFileSync(secrets, '{', { mode: 0o600 })
    told(await look(place, ...run(place, model)), 1, 'restore it from a backup')
    chmodSync(secrets, 0o644)
    told(await look(place, ...run(place, model)), 1, 'chmod 600')
    rmSync(secrets)
    await works()
  })

  test('a workspace that is gone when its run is resumed', async () => {
    const gone = join(place.root, 'gone')
    mkdirSync(gone)
    const begun = await look(place, ...run(place, model, '-w', gone, '--no-drive'))
    const id = runIdIn(begun)
    rmSync(gone, { recursive: true })
    told(await look(place, 'resume', id), 1, 'make the folder first')
    mkdirSync(gone)
    expect(await look(place, 'resume', id)).toMatchObject({ code: 0, out: 'Done.\n' })
  })
})
