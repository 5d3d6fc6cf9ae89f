import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { register } from '../../../api/cli/commands/index.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { SAMPLED, sampleOf } from '../../support/faults/seed.ts'
import { tempFolder } from '../../support/folders.ts'
import { newestOf, recorded } from '../../support/golden/files.ts'
import { appendAgain } from '../../support/golden/recording.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { inProcess } from '../support/cli.ts'

// A data folder of an earlier program is taken over, and one of a later program is left alone.

const HOME = tempFolder()
const cli = (data: string, ...args: readonly string[]) =>
  inProcess(['--data', data, ...args], { HOME }, { stdin: Readable.from(['x\n']) as never, cwd: HOME })

/** A data folder with a recorded history. */
async function folderOf(text: string): Promise<string> {
  const data = join(tempFolder(), 'data')
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
    const runs = new Set(text.match(/(?<="type":"agent_started".{0,400}"agentId":")\w+/g))
    const listed = await cli(data, '-o', 'json', 'runs', 'list')
    expect(listed).toMatchObject({ code: 0 })
    expect(JSON.parse(listed.out).length > 0).toBe(runs.size > 0)
  })
})

/** Commands that read or write no data folder. */
const NO_FOLDER = ['completion', 'man', 'roles schema', 'demo']
/** The options without which a command is refused as a usage error. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  erase: ['--all', '--reason', 'x'],
}

/** Each command with a value for each of its arguments. */
async function everyCommand(): Promise<readonly (readonly string[])[]> {
  const program = new Command('keepup')
  const kit = new Proxy({}, { get: () => () => () => undefined })
  await register(program, kit as never, 'all')
  const leaves = (command: Command, path: readonly string[]): (readonly string[])[] =>
    command.commands.length > 0
      ? command.commands.flatMap((one) => leaves(one, [...path, one.name()]))
      : [
          [
            ...path,
            ...command.registeredArguments
              .filter(({ required }) => required)
              .map(({ argChoices }) => argChoices?.[0] ?? 'x'),
            ...command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long!, 'x']),
            ...(NEEDED[path.join(' ')] ?? []),
          ],
        ]
  return program.commands.flatMap((one) => leaves(one, [one.name()]))
}

/** The names and contents of all files. */
const fingerprint = (folder: string): string =>
  sha256(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => join(folder, name))
      .map((path) => (statSync(path).isDirectory() ? path : `${path} ${sha256(readFileSync(path).toString('latin1'))}`))
      .join('\n'),
  )

describe('a data folder that a later program wrote', () => {
  let data = ''
  let commands: readonly (readonly string[])[] = []
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
    for (const words of commands) {
      const name = words.slice(0, 2).join(' ')
      if (NO_FOLDER.some((one) => words.join(' ').startsWith(one))) continue
      const { code, out, err } = await cli(data, ...words)
      if (code === 0 || !`${out}${err}`.includes('use a newer keepup')) wrong.push(`${words.join(' ')}: ${code} ${err}`)
      if (fingerprint(data) !== before) throw new Error(`"${name}" has changed the data folder`)
    }
    expect(wrong).toEqual([])
  }, 300_000)

  it('stays readable for the program that wrote it', async () => {
    const copy = join(tempFolder(), 'data')
    cpSync(data, copy, { recursive: true })
    const db = new DatabaseSync(join(paths(copy).log, 'log.db'))
    db.exec('PRAGMA user_version = 3')
    db.close()
    expect(await cli(copy, 'verify')).toMatchObject({ code: 0 })
  })
})
