import { execFile } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { promisify } from 'node:util'
import { ToolError } from '../../domain/calls/errors.ts'
import { doorOf, removeCgroup } from './cgroup.ts'
import { SandboxUnavailable } from './error.ts'
import { foundBubblewrap, TRIAL_MS } from './find-bubblewrap.ts'
import { confinedArguments, ENTER, startConfined, withProcessLimit } from './isolation.ts'
import { machineOf } from './machine.ts'
import { FILTER, filterArguments, type giveFilter, UNFILTERED } from './pass-filter.ts'
import { isExempt, MAX_PROCESSES, makeLimit } from './process-limit.ts'
import { type Protected, userRepositories } from './repositories.ts'
import { withoutSetId } from './set-id.ts'
import { STATUS } from './status.ts'
import { systemCallFilter } from './system-calls.ts'

/** A program that keeps running during a conversation with it. */
export interface Program {
  /** Absolute path. */
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface ProgramConfinement {
  /** The folder to start in, and the only folder that the program can change. Null: none. */
  readonly folder: string | null
  /** Absolute paths that the program can read in addition to the system's. */
  readonly readable: readonly string[]
  /** Paths that the program must not see. */
  readonly hide: readonly string[]
  readonly network: boolean
  readonly dataFolder: string
  /** The name of its control group, if it has one. */
  readonly id: string
  warn(text: string): void
}

/**
 * How to start a confined program. bubblewrap needs a pipe at descriptor {@link STATUS} for its reports, and one at
 * descriptor {@link FILTER} if there is a filter.
 */
export interface ConfinedProgram extends Program {
  /** The filter of system calls, for {@link giveFilter}; null: none. */
  readonly filter: Buffer | null
  readonly cwd: string
  readonly cgroup: string | null
  /** Call when the program has ended or could not start. */
  ended(): void
}

const SHARED = '/tmp'
const UNSEEN = 3

/**
 * Prepares a program for the same sandbox as commands. It can change only one folder, sees neither homes nor hidden
 * paths, and has no network unless it is granted. Repositories in the folder at its start are read-only. Rejects with
 * SandboxUnavailable if bubblewrap does not work, with ToolError RESOURCE_NOT_FOUND if the program is invisible in the
 * sandbox, and with SANDBOX_VIOLATION if its folder is the root.
 */
export async function confineProgram(program: Program, options: ProgramConfinement): Promise<ConfinedProgram> {
  const { dataFolder, id, network, readable } = options
  const workspace = options.folder === null ? null : await realpath(options.folder)
  if (workspace === '/')
    throw new ToolError('SANDBOX_VIOLATION', 'it would change the whole machine; name another folder in "cwd"', {
      beforeEffect: true,
    })
  const found = await foundBubblewrap({ workspace, hide: options.hide, dataFolder })
  const over = Promise.withResolvers<void>()
  const theirs = await protectedUntil(workspace, over.promise, options.warn)
  const filter = systemCallFilter()
  if (filter === null) options.warn(UNFILTERED)
  try {
    const machine = await machineOf(program.env, workspace)
    const cwd = workspace ?? SHARED
    const { inside, guard } = await startConfined(
      () => confinedArguments({ ...found, ...theirs, readable, network, machine }),
      async ({ isolation, mounts, guard }) => {
        const inside = [...isolation, ...mounts, '--chdir', cwd]
        await trial(found.bwrap, inside, program.file)
        return { inside, guard }
      },
    )
    const cgroup = isExempt() ? makeLimit(id, MAX_PROCESSES) : null
    const shell = [
      '--',
      ...guard,
      '/bin/sh',
      '-c',
      withProcessLimit(MAX_PROCESSES),
      'sh',
      program.file,
      ...program.args,
    ]
    const args = [...inside, ...filterArguments(filter), '--json-status-fd', String(STATUS), ...shell]
    return {
      ...(cgroup === null
        ? { file: found.bwrap, args }
        : { file: '/bin/sh', args: ['-c', ENTER, 'sh', doorOf(cgroup), found.bwrap, ...args] }),
      env: { ...program.env, TMPDIR: SHARED },
      cwd: '/',
      filter,
      cgroup,
      ended: () => {
        over.resolve()
        if (cgroup !== null) void removeCgroup(cgroup)
      },
    }
  } catch (error) {
    over.resolve()
    throw error
  }
}

/**
 * The paths that a program must not change. After `over`, reports the repositories that the program made and removes
 * its set-user-ID bits.
 */
async function protectedUntil(
  workspace: string | null,
  over: Promise<void>,
  warn: (text: string) => void,
): Promise<Protected> {
  if (workspace === null) return { folder: null, readOnly: [], sockets: [] }
  const known = Promise.withResolvers<Protected>()
  userRepositories(workspace)
    .around((theirs) => {
      known.resolve(theirs)
      return withoutSetId({ ...theirs, filter: systemCallFilter() }, () => over, warn)
    }, warn)
    .catch((error: Error) => {
      known.reject(error)
      warn(error.message)
    })
  return known.promise
}

async function trial(bwrap: string, inside: readonly string[], file: string): Promise<void> {
  const look = ['--', '/bin/sh', '-c', `[ -x "$1" ] || exit ${UNSEEN}`, 'sh', file]
  try {
    await promisify(execFile)(bwrap, [...inside, ...look], { env: {}, cwd: '/', timeout: TRIAL_MS })
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    if (code !== UNSEEN) throw new SandboxUnavailable(`a trial ended with ${code}: ${stderr.trim()}`, { cause: error })
    throw new ToolError('RESOURCE_NOT_FOUND', `the sandbox hides its program ${file}; name its folder in "readable"`, {
      beforeEffect: true,
    })
  }
}
