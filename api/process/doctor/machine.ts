import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { unhidableKey } from '../../../domain/secrets/forms.ts'
import { bad, type Finding, message, ok } from '../../operations/doctor/finding.ts'
import { MANIFEST } from '../../version.ts'
import { unknownVariables } from '../config/settings.ts'
import { nearest } from './folder.ts'
import { howToInstall } from './install.ts'

// The machine: its programs, disk and clock, and the variables of its environment.

const run = promisify(execFile)

const MIN_FREE = 1024 ** 3
const MODEL_KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY']
const BASE_URLS = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL']

export function checkNode(version: string): Finding {
  const major = Number(version.replace(/^v/, '').split('.')[0])
  return major >= 24 ? ok('node', version) : bad('broken', 'node', version, 'install Node.js 24 or newer')
}

/** Tries the sandbox in an empty folder, with the settings of a run. */
export async function checkSandbox(
  sandboxed: boolean,
  program: () => string = () => findProgram('bwrap'),
): Promise<Finding[]> {
  const todo = `${howToInstall('bubblewrap')}, and allow user namespaces; or say --no-sandbox where commands may run unconfined`
  const workspace = await mkdtemp(join(tmpdir(), 'keepup-doctor-'))
  const told: string[] = []
  try {
    const bwrap = program()
    await createSandbox({ workspace, hide: [], bwrap, warn: (text) => told.push(text) })
    const found = `bubblewrap works, ${bwrap}`
    const state = sandboxed
      ? ok('sandbox', found)
      : bad('warning', 'sandbox', `${found}, but "sandboxed" is false`, 'remove the setting to confine commands')
    return [state, ...told.map(unbounded)]
  } catch (error) {
    return [bad('warning', 'sandbox', message(error), todo)]
  } finally {
    await rm(workspace, { recursive: true, force: true })
  }
}

function unbounded(text: string): Finding {
  const [found = '', ...todo] = text.split('; ')
  return bad('warning', 'process limit', found, todo.join('; '))
}

export async function checkGit(program: () => string = () => findProgram('git')): Promise<Finding> {
  try {
    const git = program()
    const { stdout } = await run(git, ['--version'], { timeout: 5000, env: {} })
    return ok('git', `${stdout.trim().replace(/^git version /, '')}, ${git}`)
  } catch (error) {
    return bad('broken', 'git', message(error), `the versions of a workspace are kept with it: ${howToInstall('git')}`)
  }
}

export function checkKeys(env: NodeJS.ProcessEnv): Finding {
  const set = [...MODEL_KEYS, ...BASE_URLS].filter((name) => (env[name] ?? '') !== '')
  const short = MODEL_KEYS.filter((name) => env[name]?.trim() && unhidableKey(env[name].trim()) !== null)
  if (short.length > 0)
    return bad(
      'warning',
      'model keys',
      `${short.join(', ')}: too short to be hidden, or an ordinary word`,
      'set the whole key, or leave it out for a server that asks for none',
    )
  if (set.length > 0) return ok('model keys', `${set.join(', ')} (names only)`)
  return bad(
    'warning',
    'model keys',
    'none is set',
    `set one of ${MODEL_KEYS.join(', ')}, or the base URL of a local server`,
  )
}

/**
 * Reports the folder with the least free space, because folders can be on different disks. The first is the data
 * folder.
 */
export async function checkDisk(folders: readonly string[]): Promise<Finding> {
  try {
    const places = [...new Set(folders.map(nearest))]
    const rooms = await Promise.all(
      places.map((place) => statfs(place).then(({ bavail, bsize }) => ({ place, free: bavail * bsize }))),
    )
    const { place, free } = rooms.reduce((least, room) => (room.free < least.free ? room : least))
    const found = `${(free / MIN_FREE).toFixed(1)} GiB free${place === places[0] ? '' : ` in ${place}`}`
    return free >= MIN_FREE
      ? ok('disk', found)
      : bad('warning', 'disk', found, 'make room: a full disk stops every run')
  } catch (error) {
    return bad('warning', 'disk', message(error), 'look at the disk of the data folder')
  }
}

/** Compares the clock with the modification time of this program's manifest, which cannot be in the future. */
export async function checkClock(now: number): Promise<Finding> {
  const { mtimeMs } = await stat(MANIFEST)
  if (now >= mtimeMs - 60_000) return ok('clock', new Date(now).toISOString())
  const found = `${new Date(now).toISOString()} is before this program was installed`
  return bad('warning', 'clock', found, 'set the clock; times in the log never go back, so they would stand still')
}

export function checkVariables(env: NodeJS.ProcessEnv): Finding {
  const unknown = unknownVariables(env)
  if (unknown.length === 0) return ok('settings', 'understood')
  return bad('warning', 'settings', `unknown variables: ${unknown.join(', ')}`, 'look for a misspelt name')
}
