import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { AgentError } from '../../../domain/external/errors.ts'
import { liesIn } from '../../files/inside.ts'
import { confinedArguments } from '../../sandbox/confined-arguments.ts'
import { SandboxUnavailable } from '../../sandbox/error.ts'
import { foundBubblewrap, TRIAL_MS } from '../../sandbox/found-bubblewrap.ts'
import { machineOf } from '../../sandbox/machine.ts'
import { foldersAround } from '../../sandbox/mounts.ts'
import { systemCallFilter } from '../../sandbox/system-calls.ts'

/** The parts of the machine that the settings give to confined agents, and those that they must not see. */
export interface ConfinementRules {
  /** Absolute paths of folders that an agent may change beside its working folder and its own. */
  readonly writable: readonly string[]
  /** Further absolute paths that an agent can read. */
  readonly readable: readonly string[]
  /** Absolute paths that an agent must not see: data folders, the vault's key, tokens. */
  readonly hide: readonly string[]
}

/** The places of an agent's own state and login. */
export interface OwnPlaces {
  /** Folders and files below the home folder. Missing folders are made, missing files left out. */
  readonly folders: readonly string[]
  readonly files?: readonly string[]
  /** Variables that name a further absolute path. */
  readonly variables?: readonly string[]
}

export interface Confining {
  readonly rules: ConfinementRules
  /** Absolute paths. */
  readonly program: string
  readonly cwd: string
  /** The agent's own state. Absent: none. */
  readonly keeps: OwnPlaces | undefined
  /** Further absolute paths of this run: its temporary folder, folders of the request. */
  readonly writable: readonly string[]
  readonly readable: readonly string[]
  /** Our environment, and the agent's home folder. */
  readonly env: NodeJS.ProcessEnv
  readonly home: string | undefined
  readonly dataFolder: string | undefined
  /** Absolute path of bubblewrap. Absent: the first one that no agent can write. */
  readonly bwrap: string | undefined
}

export interface Confined {
  readonly bwrap: string
  /** Arguments that isolate the agent. */
  readonly args: readonly string[]
  /** The filter of system calls that commands have; null: none for this architecture. */
  readonly filter: Buffer | null
  /** The working folder's real path. */
  readonly cwd: string
}

/**
 * The sandbox of an agent: that of commands, with the network of the machine and the agent's own folders. Rejects with
 * SandboxUnavailable where bubblewrap cannot be used, and with AgentError `Backend` where it works and could not show what is
 * asked, or the program could not be seen inside.
 */
export async function confine(confining: Confining): Promise<Confined> {
  const { rules, program, env, dataFolder, bwrap } = confining
  const cwd = realpathSync(confining.cwd)
  if (cwd === '/') throw new SandboxUnavailable('the working folder is the root of the machine')
  const found = await foundBubblewrap({ workspace: cwd, hide: rules.hide, env, dataFolder, bwrap })
  const readable = [...programPaths(program, env), ...rules.readable, ...confining.readable]
  // The working folder may be named by a link.
  const writable = [...ownPaths(confining), ...rules.writable, ...confining.writable, confining.cwd]
  const shown = [
    ...readable.flatMap((path) => shownAt(path, '--ro-bind', found.hide)),
    ...writable.flatMap((path) => shownAt(path, '--bind', found.hide)),
  ]
  const { isolation, mounts } = confinedArguments({
    ...found,
    workspace: cwd,
    readOnly: [],
    network: true,
    machine: await machineOf(env, cwd),
    last: shown,
  })
  const args = [...isolation, ...mounts]
  await trial(found.bwrap, [...args, '--chdir', cwd], program).catch(async (error: unknown) => {
    if (!(error instanceof SandboxUnavailable) || !(await works(found.bwrap, isolation))) throw error
    throw new AgentError(
      'Backend',
      `the agent cannot be confined: ${error.why}; name other folders, or start the run unconfined (--no-sandbox)`,
    )
  })
  return { bwrap: found.bwrap, args, filter: systemCallFilter(), cwd }
}

/** Whether bubblewrap works at all here. Where it does, no agent runs unconfined because of the folders of a request. */
const works = (bwrap: string, isolation: readonly string[]): Promise<boolean> =>
  promisify(execFile)(bwrap, [...isolation, '--ro-bind', '/', '/', '--', '/bin/true'], {
    env: {},
    timeout: TRIAL_MS,
  }).then(
    () => true,
    () => false,
  )

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

/** A path with what must stay hidden in it. A missing path, and one that is hidden as a whole, is left out. */
function shownAt(path: string, how: '--bind' | '--ro-bind', hide: readonly string[]): string[] {
  if (!existsSync(path)) return []
  const real = realpathSync(path)
  if (hide.some((hidden) => liesIn(hidden, real))) return []
  const inside = hide.filter((hidden) => liesIn(real, hidden))
  // The path may be a link, so the hidden parts are hidden below both of its names.
  const named = (part: string) => new Set([part, join(path, relative(real, part))])
  const around = how === '--bind' ? foldersAround(real, inside) : []
  const kept = around.flatMap((folder) => [...named(folder)].flatMap((name) => [how, folder, name]))
  const covered = inside.flatMap((hidden) => [...named(hidden)])
  return [how, real, path, ...kept, ...covered.flatMap(unseen)]
}

const unseen = (path: string): string[] =>
  statSync(path).isDirectory() ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]

function ownPaths({
  keeps: { folders = [], files = [], variables = [] } = {} as OwnPlaces,
  home,
  env,
}: Confining): string[] {
  const inHome = (path: string) => join(home || env.HOME || homedir(), path)
  // Sessions and logins that the agent stores in a missing folder would be lost with the sandbox.
  for (const folder of folders) mkdirSync(inHome(folder), { recursive: true, mode: 0o700 })
  const named = variables.map((name) => env[name]).filter((path) => path !== undefined && isAbsolute(path))
  return [...[...folders, ...files].map(inHome), ...(named as string[])]
}

const PACKAGES = `${sep}node_modules${sep}`

/** A program's file, the folder of its target, and the packages that the target belongs to. Never a whole home folder. */
function programPaths(program: string, { HOME = homedir() }: NodeJS.ProcessEnv): string[] {
  const real = realpathSync(program)
  const packages = real.indexOf(PACKAGES)
  const folder = packages < 0 ? dirname(real) : real.slice(0, packages + PACKAGES.length - 1)
  return [...(liesIn(folder, HOME) ? [real] : [folder]), program]
}
