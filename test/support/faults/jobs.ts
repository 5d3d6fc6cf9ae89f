import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ScriptInput } from '../../../adapters/models/scripted/script.ts'
import { hasBubblewrap } from '../programs/bubblewrap.ts'
import type { Place } from './cli.ts'

/** A job for a place, with a person's knowledge of its calls' outcomes. */
export interface Job {
  readonly name: string
  /** Creates the workspace's files. */
  prepare(place: Place): void
  /** The command line that starts the job; repeating it with the same key finds the same run. */
  command(place: Place): string[]
  /** The outcome of an irreversible call: its result if it happened, else null. */
  became(place: Place, toolCallId: string): string | null
}

export const sandboxFlag = hasBubblewrap ? [] : ['--no-sandbox']

/** Writes a script file to the place's root; returns the model's id. */
export function scripted(place: Place, script: ScriptInput, name = 'script.json'): string {
  const path = join(place.root, name)
  writeFileSync(path, JSON.stringify(script))
  return `scripted:${path}`
}

const DEMO = fileURLToPath(new URL('../../../api/demo', import.meta.url))

/** The demo: reads, writes and tests under a role with phases and gates. All of its commands are repeatable. */
export const demoJob: Job = {
  name: 'demo',
  prepare(place) {
    cpSync(join(DEMO, 'project'), place.workspace, { recursive: true })
  },
  command(place) {
    const script = JSON.parse(readFileSync(join(DEMO, 'script.json'), 'utf8')) as ScriptInput
    const model = scripted(place, { ...script, turns: script.turns.map((turn) => ({ ...turn, delayMs: 0 })) })
    const how = ['--role', 'coder', '--model', model, '-w', place.workspace, '--approve', 'write_file,run_command']
    return ['run', '--key', 'demo', ...how, ...sandboxFlag, 'Make the failing tests pass']
  },
  became: (_, toolCallId) => {
    throw new Error(`${toolCallId} is in doubt, though all that the demo does may be done again`)
  },
}

/** Larger than the limit of a body in the log. */
const LARGE = Array.from({ length: 4000 }, (_, line) => `line ${line} of a large file\n`).join('')
const EFFECTS = 'effects.txt'

/** The turns with an irreversible call, and the line that each call writes. */
const EFFECT_TURNS = new Map([
  [2, 'two'],
  [4, 'four'],
])

/** Exactly one execution of one call wrote each line. */
export const expectedEffects = [...EFFECT_TURNS.values()].map((line) => `${line}\n`).join('')

const command = (turn: number) => ({
  calls: [{ tool: 'run_command', arguments: { command: `echo ${EFFECT_TURNS.get(turn)} >> ${EFFECTS}` } }],
})

/** The scripted model of the effects job. */
export const modelOf = (place: Place): string =>
  scripted(place, {
    script: 1,
    turns: [
      { calls: [{ tool: 'write_file', arguments: { path: 'large.txt', content: LARGE } }] },
      command(2),
      { calls: [{ tool: 'read_file', arguments: { path: 'README.md' } }] },
      command(4),
      { calls: [{ tool: 'complete_task', arguments: { summary: 'Two lines.', artifacts: ['large.txt'] } }] },
    ],
  })

/** Commands that add a line to a file, between reads and writes, one of them large. */
export const effectsJob: Job = {
  name: 'effects',
  prepare(place) {
    writeFileSync(join(place.workspace, 'README.md'), 'A place for effects.\n')
  },
  command(place) {
    const model = modelOf(place)
    const how = ['--model', model, '-w', place.workspace, '--approve', 'write_file,run_command']
    return ['run', '--key', 'effects', ...how, ...sandboxFlag, 'Leave two lines']
  },
  became(place, toolCallId) {
    const line = EFFECT_TURNS.get(Number(/\.t(\d+)\.c0$/.exec(toolCallId)?.[1]))
    if (line === undefined) throw new Error(`${toolCallId} is in doubt, though it may be done again`)
    const path = join(place.workspace, EFFECTS)
    const happened = existsSync(path) && readFileSync(path, 'utf8').split('\n').includes(line)
    return happened ? JSON.stringify({ exitCode: 0, stdout: '', stderr: '' }) : null
  },
}

export const effectsIn = (place: Place): string => {
  const path = join(place.workspace, EFFECTS)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
