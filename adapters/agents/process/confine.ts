import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { AgentError } from '../../../domain/external/errors.ts'
import { liesIn, outermost } from '../../files/inside.ts'
import { SandboxUnavailable } from '../../sandbox/error.ts'
import { foundBubblewrap, TRIAL_MS } from '../../sandbox/find-bubblewrap.ts'
import { holdFolder } from '../../sandbox/held-folder.ts'
import { confinedArguments, startConfined } from '../../sandbox/isolation.ts'
import { machineOf } from '../../sandbox/machine.ts'
import { foldersAround, socketPaths } from '../../sandbox/mounts.ts'
import { systemCallFilter } from '../../sandbox/system-calls.ts'

/** The paths that the settings give to confined agents, and the paths that those agents must not see. */
export interface ConfinementRules {
  /** Absolute paths of folders that an agent may change, in addition to its working folder and its own state. */
  readonly writable: readonly string[]
  /** Absolute paths that an agent can also read. */
  readonly readable: readonly string[]
  /** Absolute paths that an agent must not see: data folders, the vault's key, tokens. */
  readonly hide: readonly string[]
}

/** The places of an agent's state and login. */
export interface OwnPlaces {
  /** Paths below the home folder. Missing folders are created; missing files are left out. */
  readonly folders: readonly string[]
  readonly files?: readonly string[]
  /** Environment variables whose value is another absolute path. */
  readonly variables?: readonly string[]
}

export interface Confining {
  readonly rules: ConfinementRules
  /** Absolute paths. */
  readonly program: string
  readonly cwd: string
  /** The agent's own state. Absent: none. */
  readonly keeps: OwnPlaces | undefined
  /** More absolute paths for this run: its temporary folder and the folders of the request. */
  readonly writable: readonly string[]
  readonly readable: readonly string[]
  /** keepup's environment, and the agent's home folder. */
  readonly env: NodeJS.ProcessEnv
  readonly home: string | undefined
  readonly dataFolder: string | undefined
  /** The absolute path of bubblewrap. Absent: the first bubblewrap that no agent can write. */
  readonly bwrap: string | undefined
}

interface Confined {
  readonly bwrap: string
  /** bubblewrap's arguments that isolate the agent. */
  readonly args: readonly string[]
  /** A command that runs the agent in its arguments if the working folder is the same folder. */
  readonly guard: readonly string[]
  /** The filter of system calls that commands have; null: none for this architecture. */
  readonly filter: Buffer | null
  /** The real path of the working folder. */
  readonly cwd: string
}

/**
 * Builds the sandbox of an agent: the sandbox of commands, with the machine's network and the agent's own folders.
 * Rejects with SandboxUnavailable if bubblewrap cannot be used. Rejects with AgentError `Backend` if bubblewrap works but
 * cannot show a requested path, or the program is invisible inside the sandbox.
 */
export async function confine(confining: Confining): Promise<Confined> {
  try {
    return await confined(confining)
  } catch (error) {
    if (!(error instanceof SandboxUnavailable) || !error.isOfRequest) throw error
    throw new AgentError(
      'Backend',
      `the agent cannot be confined: ${error.why}; name other folders, or start the run unconfined (--no-sandbox)`,
    )
  }
}

async function confined(confining: Confining): Promise<Confined> {
  const { rules, program, env, dataFolder, bwrap } = confining
  const cwd = realpathSync(confining.cwd)
  if (cwd === '/') throw new SandboxUnavailable('the working folder is the root of the machine', { isOfRequest: true })
  const found = await foundBubblewrap({ workspace: cwd, hide: rules.hide, env, dataFolder, bwrap })
  const readable = [...programPaths(program, env), ...rules.readable, ...confining.readable]
  // The working folder comes last, because a readable folder may contain it. Its path may be a link.
  const writable = [...ownPaths(confining), ...rules.writable, ...confining.writable, confining.cwd]
  const machine = await machineOf(env, cwd)
  const folder = holdFolder(cwd)
  const started = startConfined(
    () => {
      // Nothing can be mounted in a hidden folder, which is empty and read-only.
      const hide = outermost([...found.hide, ...socketPaths()])
      const last = [
        ...readable.flatMap((path) => shownAt(path, '--ro-bind', hide)),
        ...writable.flatMap((path) => shownAt(path, '--bind', hide)),
      ]
      return confinedArguments({ ...found, folder, readOnly: [], sockets: [], network: true, machine, last })
    },
    async ({ isolation, mounts, guard }) => {
      await trial(found.bwrap, [...isolation, ...mounts, '--chdir', cwd], program).catch(async (error: unknown) => {
        if (!(error instanceof SandboxUnavailable) || !(await works(found.bwrap, isolation))) throw error
        throw new SandboxUnavailable(error.why, { cause: error, isOfRequest: true })
      })
      return { args: [...isolation, ...mounts], guard }
    },
  )
  const inside = await started.finally(() => folder.close())
  return { bwrap: found.bwrap, ...inside, filter: systemCallFilter(), cwd }
}

/**
 * Whether bubblewrap works on this machine. If it does, no agent runs unconfined because of its request. A machine that is
 * too slow to answer counts as one where it works.
 */
const works = (bwrap: string, isolation: readonly string[]): Promise<boolean> =>
  promisify(execFile)(bwrap, [...isolation, ...WHOLE_MACHINE, '--', '/bin/sh', '-c', ':'], {
    env: {},
    timeout: TRIAL_MS,
  }).then(
    () => true,
    ({ killed }: { killed?: boolean }) => killed === true,
  )
const WHOLE_MACHINE = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']

const UNSEEN = 3

async function trial(bwrap: string, args: readonly string[], program: string): Promise<void> {
  const look = ['--', '/bin/sh', '-c', `[ -x "$1" ] || exit ${UNSEEN}`, 'sh', program]
  try {
    await promisify(execFile)(bwrap, [...args, ...look], { env: {}, cwd: '/', timeout: TRIAL_MS })
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    if (code !== UNSEEN)
      throw new SandboxUnavailable(stderr.trim() || `a trial of bubblewrap ended with ${String(code)}`, {
        cause: error,
      })
    throw new AgentError(
      'Backend',
      `${program} cannot be seen in the sandbox; name its folder in "agents.confinement.readable" of keepup.json, or ` +
        'start the run unconfined (--no-sandbox)',
    )
  }
}

/** The mounts of a path, with its hidden parts covered. A missing path and a completely hidden path give no mounts. */
function shownAt(path: string, how: '--bind' | '--ro-bind', hide: readonly string[]): string[] {
  if (!existsSync(path)) return []
  const real = realpathSync(path)
  if (hide.some((hidden) => liesIn(hidden, real))) return []
  const inside = hide.filter((hidden) => liesIn(real, hidden))
  // The path may be a link, so the hidden parts are covered below both of its names.
  const named = (part: string) => new Set([part, join(path, relative(real, part))])
  const around = how === '--bind' ? foldersAround(real, inside) : []
  const kept = around.flatMap((folder) => [...named(folder)].flatMap((name) => [how, folder, name]))
  const covered = inside.flatMap((hidden) => [...named(hidden)])
  return [how, real, path, ...kept, ...covered.flatMap(unseen)]
}

const unseen = (path: string): string[] =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? ['--tmpfs', path, '--remount-ro', path]
    : ['--ro-bind', '/dev/null', path]

function ownPaths({
  keeps: { folders = [], files = [], variables = [] } = {} as OwnPlaces,
  home,
  env,
}: Confining): string[] {
  const inHome = (path: string) => join(home || env.HOME || homedir(), path)
  // A missing folder would exist only in the sandbox, and the agent's sessions and logins would be lost with it.
  for (const folder of folders) mkdirSync(inHome(folder), { recursive: true, mode: 0o700 })
  const named = variables.map((name) => env[name]).filter((path) => path !== undefined && isAbsolute(path))
  return [...[...folders, ...files].map(inHome), ...(named as string[])]
}

const PACKAGES = `${sep}node_modules${sep}`

/**
 * The program's file, the folder of its target, and the `node_modules` that contains the target. Never a whole home
 * folder.
 */
function programPaths(program: string, { HOME = homedir() }: NodeJS.ProcessEnv): string[] {
  const real = realpathSync(program)
  const packages = real.indexOf(PACKAGES)
  const folder = packages < 0 ? dirname(real) : real.slice(0, packages + PACKAGES.length - 1)
  return [...(liesIn(folder, HOME) ? [real] : [folder]), program]
}
