import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { keepup, type Place } from '../faults/cli.ts'
import { scripted } from '../faults/jobs.ts'
import { PROGRAM, programFile } from '../programs/program.ts'
import { folderFindings, succeeds } from './findings.ts'
import { makeOlder } from './older-folder.ts'
import {
  both,
  type Findings,
  homeOf,
  NOTHING,
  nothing,
  remember,
  remembered,
  type Said,
  type Scenario,
} from './scenario.ts'
import { storedFormsOf } from './stored-forms.ts'

// Programs that work in a whole data folder.

const CHILD = programFile('test/support/crash-images/child.ts')

/** A text that only erased bodies contain. */
const ERASED = 'the-erased-words'

const SCRIPT = {
  script: 1 as const,
  turns: [
    {
      calls: [
        {
          tool: 'write_file',
          // Larger than the limit of a body in the log.
          arguments: {
            path: 'large.txt',
            content: Array.from({ length: 4000 }, (_, n) => `${ERASED} ${n}\n`).join(''),
          },
        },
      ],
    },
    { calls: [{ tool: 'remember', arguments: { text: 'The file is large.' } }] },
    { calls: [{ tool: 'complete_task', arguments: { summary: ERASED } }] },
  ],
}

/** What the preparation of a folder knows. */
interface Known {
  /** The events of the log, as `ack POSITION HASH`. */
  readonly acknowledged: readonly string[]
  readonly run?: string
  /** The forms in which the folder stored the erased text, as hex. */
  readonly forms?: readonly string[]
}

const run = (place: Place, workspace: string): string[] => [
  CHILD,
  place.data,
  scripted(place, SCRIPT).slice('scripted:'.length),
  workspace,
]

/** The lines that acknowledge each event of a folder's log. */
async function acknowledgedIn(place: Place): Promise<string[]> {
  const log = await openSqliteLog({ folder: join(place.data, 'log'), mode: 'reader' })
  const lines: string[] = []
  for await (const page of log.readAll(null, { bodies: false }))
    for (const { position, hash } of page) lines.push(`ack ${position} ${hash}`)
  await log.close()
  return lines
}

/** Runs the recorded program of a run without recording it. Returns the run's id. */
async function prepareRun(place: Place): Promise<string> {
  const model = scripted(place, SCRIPT)
  const args = ['run', '--model', model, '--no-workspace', 'Write a large file']
  const { code, err } = await keepup(place, args, { env: homeOf(place) })
  if (code !== 0) throw new Error(`the run ended with ${code}:\n${err}`)
  return /^run (\w+)$/m.exec(err)![1]!
}

async function prepareKnown(place: Place): Promise<void> {
  const id = await prepareRun(place)
  const forms = storedFormsOf(ERASED, filesBelow(place.data)).map((form) => form.toString('hex'))
  remember(place, { run: id, forms, acknowledged: await acknowledgedIn(place) } satisfies Known)
}

const program = (place: Place, ...args: string[]) => [PROGRAM, '--data', place.data, '--by', 'ada', ...args]
const saidAnything = (said: Said) => said.some((line) => line !== '')
const everything = (place: Place, said: Said) =>
  folderFindings(place, [
    ...said,
    ...(existsSync(join(place.root, 'known.json')) ? remembered<Known>(place).acknowledged : []),
  ])

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

export const firstRun: Scenario = {
  name: 'a run in a new folder',
  isDataFolder: true,
  prepare: nothing,
  command: (place) => run(place, ''),
  check: everything,
  again: (place) => run(place, ''),
}

export const runWithFiles: Scenario = {
  ...firstRun,
  name: 'a run with a workspace',
  command: (place) => run(place, place.workspace),
  again: (place) => run(place, place.workspace),
}

/** A scenario of one command in a folder with a finished run. */
const afterRun = (name: string, ...args: string[]): Scenario => ({
  name,
  isDataFolder: true,
  prepare: prepareKnown,
  command: (place) => program(place, ...args),
  check: everything,
  again: (place) => program(place, ...args),
})

const erase = (place: Place) =>
  program(place, 'erase', remembered<Known>(place).run!, '--all', '--yes', '--reason', 'asked')

export const erasure: Scenario = {
  ...afterRun('an erasure'),
  command: erase,
  check: async (place, said) =>
    both(saidAnything(said) ? erasedFindings(place) : NOTHING, await everything(place, said)),
  again: erase,
}

/** The files that still contain an erased text. */
function erasedFindings(place: Place): Findings {
  const forms = remembered<Known>(place).forms!.map((form) => Buffer.from(form, 'hex'))
  const left = filesBelow(place.data).filter((path) => {
    const bytes = readFileSync(path)
    return forms.some((form) => bytes.includes(form))
  })
  return { lost: left.map((path) => `${path} contains an erased text`), named: [] }
}

export const backup: Scenario = {
  ...afterRun('a backup'),
  command: (place) => program(place, 'backup', join(place.root, 'backup')),
  check: async (place, said) => {
    const copy = { ...place, data: join(place.root, 'backup') }
    const copied = saidAnything(said) ? await everything(copy, []) : NOTHING
    return both(copied, await everything(place, said))
  },
  again: (place) => program(place, 'backup', join(place.root, 'backup-2')),
}

export const rotation: Scenario = {
  ...afterRun('a rotation of the vault key', 'secrets', 'rotate-key'),
  prepare: async (place) => {
    await prepareKnown(place)
    const options = { input: 'a-value-of-a-secret', env: homeOf(place) }
    const { code, err } = await keepup(place, ['secrets', 'set', 'api_key'], options)
    if (code !== 0) throw new Error(`the secret was not set: ${err}`)
    remember(place, { ...remembered<Known>(place), acknowledged: await acknowledgedIn(place) })
  },
  // Reading the list decrypts nothing; another rotation decrypts every value.
  check: async (place, said) =>
    both(
      await succeeds(place, ['secrets', 'list'], 'api_key'),
      await succeeds(place, ['secrets', 'rotate-key']),
      await everything(place, said),
    ),
}

export const rebuild = afterRun('a rebuild of the tables', 'rebuild')

/** The first command of this program in the folder of an older one. */
export const upgrade: Scenario = {
  ...afterRun('an upgrade of an older folder', 'verify'),
  prepare: async (place) => {
    await makeOlder(place)
    remember(place, { acknowledged: await acknowledgedIn(place) } satisfies Known)
  },
}
