import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calledAs } from '../../../api/cli/invocation.ts'
import { runCli } from '../../../api/cli/program.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { entryFor } from '../../support/faults/cli.ts'
import { ENTRY, PROGRAM } from '../../support/programs/program.ts'
import { workspaces, writeScript } from './script.ts'

/** A command line in this process: the same code as in one of its own, but for start and end. */
export async function inProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  { stdout, ...more }: Partial<Parameters<typeof runCli>[1]> = {},
) {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCli(args, {
    stdout: stdout ?? { write: (s) => out.push(s) },
    stderr: { write: (s) => err.push(s) },
    stdin: process.stdin,
    env,
    cwd: tmpdir(),
    open: openServices,
    program: 'keepup',
    ...more,
  })
  return { code, out: out.join(''), err: err.join('') }
}

/** The file of the command. */
export const entry = PROGRAM

export interface Running {
  readonly process: ChildProcess
  readonly out: () => string
  readonly err: () => string
  /** Resolves when stderr has shown this. */
  said(text: string): Promise<void>
  readonly ended: Promise<{ code: number | null; signal: string | null; out: string; err: string }>
}

/** The id of the run that a command started. */
export const idIn = (err: string): string => /^run (\w+)\r?$/m.exec(err)![1]!

/** Real processes over a data folder of their own. */
export function cliFolder() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-cli-')))
  const data = join(root, 'data')
  const started = new Set<ChildProcess>()
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: root,
    // Where the vault's key lies, for this process too.
    XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME ?? '',
    // Long, because a busy machine is no silent owner.
    KEEPUP_OWNER_TIMEOUT_MS: '10000',
    KEEPUP_MODEL: writeScript(root),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    TMPDIR: tmpdir(),
  }
  const workspace = workspaces(root)

  function start(
    args: readonly string[],
    options: { env?: Record<string, string>; input?: string; data?: string } = {},
  ): Running {
    const child = spawn(
      process.execPath,
      [entryFor(options.env), '--data', options.data ?? data, '--by', 'ada', ...args],
      {
        cwd: root,
        env: { ...env, ...options.env },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    )
    started.add(child)
    child.stdin.end(options.input ?? '')
    let out = ''
    let err = ''
    const waiting = new Set<() => void>()
    // Its last words come after its end.
    let over = false
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
      for (const look of waiting) look()
    })
    const ended = once(child, 'close').then(([code, signal]) => {
      over = true
      started.delete(child)
      for (const look of waiting) look()
      return { code: code as number | null, signal: signal as string | null, out, err }
    })
    const said = (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (err.includes(text)) resolve()
          else if (over) reject(new Error(`ended without saying "${text}":\n${err}${out}`))
          else return
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      })
    return { process: child, out: () => out, err: () => err, said, ended }
  }

  return {
    root,
    /** How this command line calls itself: by its path, for no "keepup" is on its PATH. */
    program: calledAs({ env, cwd: root, file: ENTRY, node: process.execPath }),
    data,
    env,
    workspace,
    start,
    run: (...args: string[]) => start(args).ended,
    /** The command line of a run that works in this folder until a person or {@link giveSign} lets it be done. */
    waits: (folder: string, task = 'wait') => ['run', task, ...WAITING, '-w', folder],
    /** In this process. */
    look: (...args: string[]) => {
      const { KEEPUP_MODEL, KEEPUP_OWNER_TIMEOUT_MS } = env
      return inProcess(['--data', data, ...args], { KEEPUP_MODEL, KEEPUP_OWNER_TIMEOUT_MS })
    },
    /** The same, beside an owner that was stopped: it waits a short time only. */
    hasty: (...args: string[]) =>
      inProcess(['--data', data, ...args], { KEEPUP_MODEL: env.KEEPUP_MODEL, KEEPUP_OWNER_TIMEOUT_MS: '1500' }),
    clean() {
      for (const child of started) child.kill('SIGKILL')
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Tools that need no sandbox, and turns enough. */
const WAITING = ['--tools', 'list_dir,read_file,write_file', '--max-turns', '10000']
