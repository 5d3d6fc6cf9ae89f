import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LOG_CHILD } from '../child.ts'
import { environment, keepup, type Place } from '../faults/cli.ts'
import { look } from '../faults/inspect.ts'
import { scripted } from '../faults/jobs.ts'
import { PROGRAM } from '../programs/program.ts'
import { logFaults, verifyFaults } from './check.ts'
import type { Image } from './images.ts'
import { type Recording, record } from './recording.ts'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

/** A program that changes a data folder, and the faults of an image of the changes. */
export interface Scenario {
  readonly name: string
  /** Makes the folder as it is before the recorded program starts. */
  prepare(place: Place): Promise<void>
  command(place: Place): string[]
  check(place: Place, image: Image): Promise<string[]>
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
const everything = async (place: Place, image: Image) => [
  ...(await logFaults(place, image)),
  ...(await verifyFaults(place)),
]
const nothing = () => Promise.resolve()
const saidAnything = (image: Image) => image.said.some((line) => line !== '')

let erasedRun = ''

export const appends: Scenario = {
  name: 'appends',
  prepare: nothing,
  command: (place) => [LOG_CHILD, 'write', join(place.data, 'log'), 'w', '12'],
  check: logFaults,
}

export const firstRun: Scenario = {
  name: 'a run in a new folder',
  prepare: nothing,
  command: (place) => run(place, ''),
  check: everything,
}

export const runWithFiles: Scenario = {
  name: 'a run with a workspace',
  prepare: nothing,
  command: (place) => run(place, place.workspace),
  check: everything,
}

export const erasure: Scenario = {
  name: 'an erasure',
  prepare: async (place) => {
    erasedRun = await prepareRun(place)
  },
  command: (place) => program(place, 'erase', erasedRun, '--all', '--yes', '--reason', 'asked'),
  check: async (place, image) => {
    if (!saidAnything(image)) return everything(place, image)
    const left = [...image.files].filter(([path, content]) => path.startsWith(place.data) && content?.includes(ERASED))
    return [...left.map(([path]) => `${path} contains an erased text`), ...(await everything(place, image))]
  },
}

export const backup: Scenario = {
  name: 'a backup',
  prepare: async (place) => void (await prepareRun(place)),
  command: (place) => program(place, 'backup', join(place.root, 'backup')),
  check: async (place, image) => {
    const copy = { ...place, data: join(place.root, 'backup') }
    const copied = saidAnything(image) ? await verifyFaults(copy) : []
    const lost = saidAnything(image) && !existsSync(join(copy.data, 'log', 'log.db')) ? ['the backup is lost'] : []
    return [...lost, ...copied, ...(await everything(place, image))]
  },
}

export const rotation: Scenario = {
  name: 'a rotation of the vault key',
  prepare: async (place) => {
    await prepareRun(place)
    const { code, err } = await keepup(place, ['secrets', 'set', 'api_key'], { input: 'a-value-of-a-secret' })
    if (code !== 0) throw new Error(`the secret was not set: ${err}`)
  },
  command: (place) => program(place, 'secrets', 'rotate-key'),
  check: async (place, image) => {
    const { code, out, err } = await look(place, 'secrets', 'list')
    const isThere = code === 0 && out.includes('api_key')
    // Reading the list decrypts nothing; another rotation decrypts every value.
    const again = await look(place, 'secrets', 'rotate-key')
    return [
      ...(isThere ? [] : [`the secret is lost: ${code} ${out}${err}`]),
      ...(again.code === 0 ? [] : [`the vault does not open: ${again.out}${again.err}`]),
      ...(await everything(place, image)),
    ]
  },
}

export const rebuild: Scenario = {
  name: 'a rebuild',
  prepare: async (place) => void (await prepareRun(place)),
  command: (place) => program(place, 'rebuild'),
  check: everything,
}

export const SCENARIOS: readonly Scenario[] = [appends, firstRun, runWithFiles, erasure, backup, rotation, rebuild]

/** Prepares a place and records a scenario's program in it. */
export async function recordScenario(place: Place, scenario: Scenario): Promise<Recording> {
  // The key of the vault is part of the images.
  process.env.XDG_CONFIG_HOME = join(place.root, '.config')
  await scenario.prepare(place)
  const command = [process.execPath, ...scenario.command(place)]
  const recording = await record(place.root, command, { env: environment(place), cwd: place.root })
  if (recording.code !== 0) throw new Error(`${scenario.name} ended with ${recording.code}:\n${recording.stderr}`)
  return recording
}
