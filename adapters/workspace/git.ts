import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ToolError } from '../../domain/calls/errors.ts'
import { releasePipes } from './pipes.ts'

/** The git program, keepup's repository and index, and the folder whose files git sees. */
export interface GitPlace {
  /** The absolute path of the program, outside every workspace. */
  readonly program: string
  readonly repository: string
  readonly index: string
  readonly workTree: string
  /** Git uses the repository without a work tree. */
  readonly bare?: true
}

/** The time limit of one git process, in ms. */
const TIME_LIMIT_MS = 120_000

// These settings replace those of the user, the machine and the workspace. They disable hooks, filters, conversion of
// line ends, file monitors and attributes. Files must be restored byte for byte, and no file of the workspace may start
// a program.
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.attributesFile=/dev/null',
  'core.autocrlf=false',
  'core.fileMode=true',
  'core.symlinks=true',
  'core.ignoreCase=false',
  'core.precomposeUnicode=false',
  'core.protectNTFS=false',
  'core.protectHFS=false',
  'core.quotePath=false',
  'core.fsmonitor=false',
  'core.fsync=all',
  'core.fsyncMethod=batch',
  'gc.auto=0',
  'maintenance.auto=false',
  'diff.external=',
]

type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>

/** Starts git. `settings`: more `-c` values. */
export function startGit(place: GitPlace, args: readonly string[], settings: readonly string[] = []): GitProcess {
  const flags = [...SETTINGS, ...settings].flatMap((setting) => ['-c', setting])
  return spawn(place.program, [...flags, ...args], {
    cwd: place.workTree,
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
    env: {
      PATH: [...new Set([dirname(place.program), '/usr/bin', '/bin'])].join(':'),
      LC_ALL: 'C',
      GIT_DIR: place.repository,
      ...(place.bare ? {} : { GIT_WORK_TREE: place.workTree }),
      GIT_INDEX_FILE: place.index,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      // A missing object is an error. Git must not fetch it with a program that a configuration names.
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_LITERAL_PATHSPECS: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
    },
  })
}

export interface GitRun {
  readonly input?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  readonly settings?: readonly string[]
  /** The limit of the output, in bytes. Git is killed beyond it. */
  readonly maxBytes?: number
  /** Exit codes that count as success. Default: 0. */
  readonly allowed?: readonly number[]
}

/** Runs git and returns its output. Rejects with {@link GitFailure}. */
export async function git(place: GitPlace, args: readonly string[], run: GitRun = {}): Promise<Buffer> {
  const stopReleasing = releasePipes(place.workTree)
  try {
    return await runGit(place, args, run)
  } finally {
    stopReleasing()
  }
}

async function runGit(place: GitPlace, args: readonly string[], run: GitRun): Promise<Buffer> {
  const child = startGit(place, args, run.settings)
  const ended = exitOf(child, place, args)
  const out: Buffer[] = []
  let size = 0
  let cut = false
  const fed = feed(child.stdin, run.input)
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    out.push(chunk)
    size += chunk.length
    if (run.maxBytes !== undefined && size > run.maxBytes) {
      cut = true
      child.kill('SIGKILL')
      break
    }
  }
  const { code, said } = await ended
  const { failed, broken } = await fed
  // A failed input makes git fail too, and a failed git breaks the pipe. Report the causes in this order.
  if (failed) throw failed
  if (!cut && !(run.allowed ?? [0]).includes(code ?? -1)) throw new GitFailure(args, code, said)
  if (broken && !cut) throw broken
  return Buffer.concat(out)
}

/** Writes the input to git. `failed`: the error of the input itself. `broken`: git stopped reading. */
async function feed(to: Writable, input: GitRun['input'] = []): Promise<{ failed?: unknown; broken?: unknown }> {
  let failed: unknown
  const source = async function* () {
    try {
      yield* input
    } catch (error) {
      failed = error
      throw error
    }
  }
  return pipeline(source, to).then(
    () => ({}),
    (error) => (failed ? { failed } : { broken: error }),
  )
}

/** The exit code of git and its stderr. Rejects if git could not start. */
export function exitOf(
  child: GitProcess,
  place: GitPlace,
  args: readonly string[],
): Promise<{ code: number | null; said: string }> {
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (said.length < 4_000) said += chunk.toString('utf8')
  })
  const ended = new Promise<{ code: number | null; said: string }>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => reject(notStarted(place, args, error)))
    child.on('close', (code) => resolve({ code, said }))
  })
  ended.catch(() => {})
  return ended
}

function notStarted(place: GitPlace, args: readonly string[], error: NodeJS.ErrnoException): ToolError {
  if (error.code !== 'ENOENT') return new GitFailure(args, null, error.message)
  if (!existsSync(place.workTree))
    return new ToolError('RESOURCE_NOT_FOUND', `the folder ${place.workTree} is gone; bring it back and try again`)
  return new ToolError('EXECUTION_FAILED', `${place.program} is gone; workspaces need git 2.36 or newer: install it`)
}

/** Git's messages for ENOSPC and EDQUOT. */
const NO_ROOM = /No space left on device|Disk quota exceeded|Out of diskspace|Check that disk is not full/i

/**
 * A failed git process with its message. `exit` null: git was killed. If the disk was full, the cause has the code
 * ENOSPC.
 */
export class GitFailure extends ToolError {
  readonly exit: number | null
  readonly said: string
  constructor(args: readonly string[], exit: number | null, said: string) {
    const how = exit === null ? `was ended (time limit ${TIME_LIMIT_MS / 1000} s)` : `ended with ${exit}`
    const told = `git ${args[0]} on the shadow versions ${how}: ${said.trim()}`
    super(
      'EXECUTION_FAILED',
      told,
      NO_ROOM.test(said) ? { cause: Object.assign(new Error(told), { code: 'ENOSPC' }) } : {},
    )
    this.exit = exit
    this.said = said
  }
}
