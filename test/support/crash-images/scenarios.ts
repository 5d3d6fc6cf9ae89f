import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { LOG_CHILD } from '../child.ts'
import { environment, keepup, type Place } from '../faults/cli.ts'
import { look } from '../faults/inspect.ts'
import { scripted } from '../faults/jobs.ts'
import { PROGRAM } from '../programs/program.ts'
import { logFaults, type Said, verifyFaults } from './check.ts'
import { type Recording, record } from './recording.ts'
import { storedFormsOf } from './stored-forms.ts'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

/** A program that changes a data folder, and how to check what it leaves if it is interrupted. */
export interface Scenario {
  readonly name: string
  /** Makes the folder as it is before the recorded program starts. */
  prepare(place: Place): Promise<void>
  command(place: Place): string[]
  /** The faults of what the program left. `said`: the lines that it had printed. */
  check(place: Place, said: Said): Promise<string[]>
  /** The command that the next process runs after an interruption. Null: none. */
  again(place: Place): string[] | null
}

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

const run = (place: Place, workspace: string): string[] => [
  CHILD,
  place.data,
  scripted(place, SCRIPT).slice('scripted:'.length),
  workspace,
]

/** Runs the recorded program of a run without recording it. */
async function prepareRun(place: Place): Promise<string> {
  const model = scripted(place, SCRIPT)
  const { code, err } = await keepup(place, ['run', '--model', model, '--no-workspace', 'Write a large file'])
  if (code !== 0) throw new Error(`the run ended with ${code}:\n${err}`)
  return /^run (\w+)$/m.exec(err)![1]!
}

const program = (place: Place, ...args: string[]) => [PROGRAM, '--data', place.data, ...args]
const everything = async (place: Place, said: Said) => [
  ...(await logFaults(place, said)),
  ...(await verifyFaults(place)),
]
const nothing = () => Promise.resolve()
const saidAnything = (said: Said) => said.some((line) => line !== '')

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

let erasedRun = ''
/** The forms in which the data folder stored the erased text. */
let erasedForms: readonly Buffer[] = []

export const appends: Scenario = {
  name: 'appends',
  prepare: nothing,
  command: (place) => [LOG_CHILD, 'write', join(place.data, 'log'), 'w', '12'],
  check: logFaults,
  again: () => null,
}

export const firstRun: Scenario = {
  name: 'a run in a new folder',
  prepare: nothing,
  command: (place) => run(place, ''),
  check: everything,
  again: (place) => run(place, ''),
}

export const runWithFiles: Scenario = {
  name: 'a run with a workspace',
  prepare: nothing,
  command: (place) => run(place, place.workspace),
  check: everything,
  again: (place) => run(place, place.workspace),
}

export const erasure: Scenario = {
  name: 'an erasure',
  prepare: async (place) => {
    erasedRun = await prepareRun(place)
    erasedForms = storedFormsOf(ERASED, filesBelow(place.data))
  },
  command: (place) => program(place, 'erase', erasedRun, '--all', '--yes', '--reason', 'asked'),
  check: async (place, said) => {
    if (!saidAnything(said)) return everything(place, said)
    const left = filesBelow(place.data).filter((path) => {
      const bytes = readFileSync(path)
      return erasedForms.some((form) => bytes.includes(form))
    })
    return [...left.map((path) => `${path} contains an erased text`), ...(await everything(place, said))]
  },
  again: (place) => program(place, 'erase', erasedRun, '--all', '--yes', '--reason', 'asked'),
}

export const backup: Scenario = {
  name: 'a backup',
  prepare: async (place) => void (await prepareRun(place)),
  command: (place) => program(place, 'backup', join(place.root, 'backup')),
  check: async (place, said) => {
    const copy = { ...place, data: join(place.root, 'backup') }
    const copied = saidAnything(said) ? await verifyFaults(copy) : []
    const lost = saidAnything(said) && !existsSync(join(copy.data, 'log', 'log.db')) ? ['the backup is lost'] : []
    return [...lost, ...copied, ...(await everything(place, said))]
  },
  again: (place) => program(place, 'backup', join(place.root, 'backup-2')),
}

export const rotation: Scenario = {
  name: 'a rotation of the vault key',
  prepare: async (place) => {
    await prepareRun(place)
    const { code, err } = await keepup(place, ['secrets', 'set', 'api_key'], { input: 'a-value-of-a-secret' })
    if (code !== 0) throw new Error(`the secret was not set: ${err}`)
  },
  command: (place) => program(place, 'secrets', 'rotate-key'),
  check: async (place, said) => {
    const { code, out, err } = await look(place, 'secrets', 'list')
    const isThere = code === 0 && out.includes('api_key')
    // Reading the list decrypts nothing; another rotation decrypts every value.
    const again = await look(place, 'secrets', 'rotate-key')
    return [
      ...(isThere ? [] : [`the secret is lost: ${code} ${out}${err}`]),
      ...(again.code === 0 ? [] : [`the vault does not open: ${again.out}${again.err}`]),
      ...(await everything(place, said)),
    ]
  },
  again: (place) => program(place, 'secrets', 'rotate-key'),
}

export const rebuild: Scenario = {
  name: 'a rebuild',
  prepare: async (place) => void (await prepareRun(place)),
  command: (place) => program(place, 'rebuild'),
  check: everything,
  again: (place) => program(place, 'rebuild'),
}

export const SCENARIOS: readonly Scenario[] = [appends, firstRun, runWithFiles, erasure, backup, rotation, rebuild]

/** Makes the place as it is before the scenario's program starts. Stubs the environment; unstub it afterwards. */
export async function prepareScenario(place: Place, scenario: Scenario): Promise<void> {
  // The key of the vault is part of what can be lost.
  vi.stubEnv('XDG_CONFIG_HOME', join(place.root, '.config'))
  await scenario.prepare(place)
}

/**
 * The environment of a scenario's program. The program waits only briefly for room on a full disk. A pool of one thread makes
 * the same calls in each run.
 */
export const scenarioOptions = (place: Place) => ({
  env: environment(place, { KEEPUP_FULL_PATIENCE_MS: '300', UV_THREADPOOL_SIZE: '1' }),
  cwd: place.root,
})

/** Prepares a place and records a scenario's program in it. */
export async function recordScenario(place: Place, scenario: Scenario): Promise<Recording> {
  await prepareScenario(place, scenario)
  const recording = await record(place.root, [process.execPath, ...scenario.command(place)], scenarioOptions(place))
  if (recording.code !== 0) throw new Error(`${scenario.name} ended with ${recording.code}:\n${recording.stderr}`)
  return recording
}
