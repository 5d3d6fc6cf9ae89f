import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CRASHING, PROGRAM } from '../programs/program.ts'

/** The program, or the variant that kills itself at the point in this environment. */
export const entryFor = (env: Readonly<Record<string, string>> = {}): string =>
  env.KEEPUP_CRASH_AT === undefined ? PROGRAM : CRASHING

/** A data folder, a workspace next to it, and the program's home. */
export interface Place {
  readonly root: string
  readonly data: string
  readonly workspace: string
}

export function newPlace(): Place & { remove(): void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-fault-')))
  const workspace = join(root, 'ws')
  mkdirSync(workspace)
  return { root, data: join(root, 'data'), workspace, remove: () => rmSync(root, { recursive: true, force: true }) }
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** The environment of the program in a place: from ours only the PATH. */
export const environment = (place: Place, env: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: place.root,
  // The folder of the vault's key, also for this process.
  XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME ?? '',
  // Separate from other tests' folders; shared, so that only the first start compiles.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  TMPDIR: tmpdir(),
  ...env,
})

/** The command line of the program in a place. */
export const commandLine = (place: Place, args: readonly string[], entry = PROGRAM): [string, string[]] => [
  process.execPath,
  [entry, '--data', place.data, '--by', 'ada', ...args],
]

/** Runs the real program in a separate process until it ends. */
export function keepup(
  place: Place,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; input?: string; wrap?: readonly string[] } = {},
): Promise<Ended> {
  return begin(place, args, options).ended
}

export interface Begun {
  readonly pid: number
  readonly ended: Promise<Ended>
  /** The output so far. */
  err(): string
  /** Resolves when stderr contains this text; rejects if the process ends without it. */
  said(text: string): Promise<void>
  kill(signal: NodeJS.Signals): void
}

/** Starts the program. `wrap`: a command that starts the program, for example in a mount namespace. */
export function begin(
  place: Place,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; input?: string; wrap?: readonly string[] } = {},
): Begun {
  const [file, argv] = commandLine(place, args, entryFor(options.env))
  const [program, ...rest] = [...(options.wrap ?? []), file, ...argv]
  const child = spawn(program!, rest, {
    cwd: place.root,
    env: environment(place, options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  let out = ''
  let err = ''
  const looks = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
    for (const look of looks) look()
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, out, err }))
  })
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!err.includes(text)) return
        looks.delete(look)
        resolve()
      }
      looks.add(look)
      look()
      void ended.then(() => reject(new Error(`ended without saying "${text}":\n${err}${out}`)))
    })
  return { pid: child.pid!, ended, err: () => err, said, kill: (signal) => void child.kill(signal) }
}

/** The id of the run that a command line started. */
export function runIdIn(ended: Pick<Ended, 'err'>): string {
  const id = /^run (\w+)$/m.exec(ended.err)?.[1]
  if (id === undefined) throw new Error(`no run was started:\n${ended.err}`)
  return id
}
