import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { register } from '../../../api/cli/commands/index.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { SAMPLED, sampleOf } from '../../support/faults/seed.ts'
import { freshFolders } from '../../support/folders.ts'
import { newestOf, recorded } from '../../support/golden/files.ts'
import { appendAgain } from '../../support/golden/recording.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { inProcess } from '../support/cli.ts'

// A data folder of an earlier program is taken over, and one of a later program is left alone.

const home = freshFolders()
afterAll(() => home.remove())
const cli = (data: string, ...args: readonly string[]) =>
  inProcess(['--data', data, ...args], { HOME: home.base }, { stdin: Readable.from(['x\n']) as never, cwd: home.base })

/** A data folder with a recorded history. */
async function folderOf(text: string): Promise<string> {
  const data = mkdtempSync(join(home.base, 'data-'))
  const at = paths(data)
  const log = await openSqliteLog({ folder: at.log, mode: 'owner', clock: BEFORE })
  await appendAgain(text, log, new FileBlobs(at.blobs))
  await log.close()
  return data
}

const all = recorded()
const earlier = all
  .filter((one) => one !== newestOf(all, one.name))
  .map((one) => [`${one.name}.${one.number}`, one] as const)

describe(`a data folder with a history of an earlier program (${SAMPLED})`, () => {
  it.each(sampleOf(earlier, 2))('%s is taken over: upgrade, verify and the tables', async (_, { text }) => {
    const data = await folderOf(text)
    expect(await cli(data, 'upgrade', '--check')).toMatchObject({ code: 0 })
    expect(await cli(data, 'verify')).toMatchObject({ code: 0 })
    const listed = await cli(data, '-o', 'json', 'runs', 'list')
    expect(listed).toMatchObject({ code: 0 })
    expect(JSON.parse(listed.out).length > 0).toBe(/"type":"(agent|external)_started"/.test(text))
  })
})

/** Commands that open no data folder here: they print what the program knows, need servers, or read another file first. */
const NO_FOLDER = ['completion', 'man', 'roles schema', 'demo', 'worker', 'auditors', 'upgrade', 'drill', 'roles check']
/** The arguments of commands that refuse `x` before they open a data folder. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'access grant': ['x', 'viewer'],
  'access separation': ['on'],
  'access take': ['x', 'viewer'],
  'anchor add': ['x', 'folder', 'x'],
  call: ['listRuns'],
  'docs erase': ['x', '--revision', '1', '--reason', 'x'],
  erase: ['x', '--all', '--reason', 'x'],
  explain: ['x', '--turn', '1'],
  export: ['--events', '--tables', '--to', 'export'],
  pack: ['--to', 'pack.zip'],
  'policy check': ['--runs', 'x', '--role', 'x'],
  prove: ['agent-a1@0'],
  release: ['--all'],
  'release-calls': ['--all'],
  request: ['x', '--turn', '1'],
  resolve: ['x', 'happened'],
  restore: ['x', '1'],
  result: ['06dw.t3.c0'],
  'retention set': ['run', '30'],

  'runs unnote': ['x', '1'],
  'stores erase': ['x', '--all', '--reason', 'x'],
  trace: ['agent-a1@0'],
}

/** Each command with a value for each of its arguments. */
async function everyCommand(): Promise<readonly { readonly name: string; readonly words: readonly string[] }[]> {
  const program = new Command('keepup')
  const kit = new Proxy({}, { get: () => () => () => undefined })
  await register(program, kit as never, 'all')
  const given = (command: Command) => [
    ...command.registeredArguments.filter(({ required }) => required).map(({ argChoices }) => argChoices?.[0] ?? 'x'),
    ...command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long!, 'x']),
  ]
  const leaves = (command: Command, path: readonly string[]): { name: string; words: readonly string[] }[] => {
    if (command.commands.length > 0) return command.commands.flatMap((one) => leaves(one, [...path, one.name()]))
    const name = path.join(' ')
    return [{ name, words: [...path, ...(ARGUMENTS[name] ?? given(command))] }]
  }
  return program.commands.flatMap((one) => leaves(one, [one.name()]))
}

/** The names and contents of all files but what readers of a database also make: its shared memory and an empty WAL. */
const fingerprint = (folder: string): string =>
  sha256(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.endsWith('-shm'))
      .filter((name) => !name.endsWith('-wal') || statSync(join(folder, name)).size > 0)
      .sort()
      .map((name) => join(folder, name))
      .map((path) => (statSync(path).isDirectory() ? path : `${path} ${sha256(readFileSync(path).toString('latin1'))}`))
      .join('\n'),
  )

describe('a data folder that a later program wrote', () => {
  let data = ''
  let commands: Awaited<ReturnType<typeof everyCommand>> = []
  beforeAll(async () => {
    data = await folderOf(newestOf(all, 'approvals')!.text)
    await cli(data, 'verify')
    const db = new DatabaseSync(join(paths(data).log, 'log.db'))
    db.exec('PRAGMA journal_mode = DELETE; PRAGMA user_version = 99')
    db.close()
    commands = await everyCommand()
  })

  it('is refused by every command with what to do, and nothing in it is written', async () => {
    const before = fingerprint(data)
    const wrong: string[] = []
    expect(commands.length).toBeGreaterThan(100)
    for (const { name, words } of commands) {
      if (NO_FOLDER.includes(name)) continue
      const { code, out, err } = await cli(data, ...words)
      if (code === 0 || !`${out}${err}`.includes('use a newer keepup')) wrong.push(`${words.join(' ')}: ${code} ${err}`)
      if (fingerprint(data) !== before) throw new Error(`"${name}" has changed the data folder`)
    }
    expect(wrong).toEqual([])
  }, 300_000)

  it('stays readable for the program that wrote it', async () => {
    const copy = join(home.base, 'copy')
    cpSync(data, copy, { recursive: true })
    const db = new DatabaseSync(join(paths(copy).log, 'log.db'))
    db.exec('PRAGMA user_version = 3')
    db.close()
    expect(await cli(copy, 'verify')).toMatchObject({ code: 0 })
  })
})
