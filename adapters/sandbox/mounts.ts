import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { liesIn } from '../files/inside.ts'
import { boundSockets } from './listening.ts'
import type { Machine } from './machine.ts'
import type { PrivateEntry } from './private-entries.ts'
import { SYSTEM } from './toolchains.ts'

export interface MountPlan {
  readonly machine: Machine
  /** The real path of the workspace. Null: none; only folders in memory are writable. */
  readonly workspace: string | null
  /** More absolute paths that can be read. Missing paths are skipped. */
  readonly readable: readonly string[]
  /** Real paths in the workspace that commands can only read. Commands cannot move them, or a folder around them. */
  readonly readOnly: readonly string[]
  /** Real paths of more sockets to cover. */
  readonly sockets: readonly string[]
  /** Real paths to hide: the data folder, the vault, tokens. */
  readonly hide: readonly string[]
  /** Whether this bubblewrap knows `--size`. */
  readonly bounds: boolean
  readonly network: boolean
  /** Mounts on top of all others. Default: none. */
  readonly last?: readonly string[] | undefined
}

/** Folders that are empty and writable, in memory. */
const EMPTIED = ['/run', '/tmp', '/var/tmp']
/** Places within {@link SYSTEM} with data and sockets of services, and the settings of the SSH server. */
const SERVICES = ['/usr/local/var', '/usr/var', '/etc/ssh']
/** The limit of each folder in memory, in bytes. */
const MEMORY_BYTES = 2 * 1024 ** 3

/**
 * bubblewrap's mounts in order, starting with an empty root: the system, homes and temporary folders in memory, tools
 * and declared paths, the workspace, its protected paths read-only, the covers of hidden paths, and the last mounts.
 */
export function mountArguments(plan: MountPlan): string[] {
  const { machine, network, workspace } = plan
  const inMemory = (path: string) => [...(plan.bounds ? ['--size', String(MEMORY_BYTES)] : []), '--tmpfs', path]
  const system = SYSTEM.filter(existsSync)
  const args = system.flatMap(systemFolder)
  args.push('--dev', '/dev', ...inMemory('/dev/shm'), '--remount-ro', '/dev')
  // As root, a program could change the machine through /proc/sys. /proc/keys lists the keys of the session.
  args.push('--proc', '/proc', ...['/proc/keys', '/proc/key-users'].filter(existsSync).flatMap(emptyFile))
  args.push('--remount-ro', '/proc')
  const homes = [machine.home, ...machine.otherHomes.filter(isRealFolder)]
  const emptied = [...new Set([...EMPTIED, ...homes])].filter((path) => path !== '/')
  for (const folder of emptied) args.push(...inMemory(folder))
  args.push('--symlink', '../run', '/var/run')
  const readable = [...machine.tools, ...plan.readable.filter(existsSync)]
  const resolver = network ? realOrNull('/etc/resolv.conf') : null
  if (resolver !== null && !liesIn('/etc', resolver)) readable.push(resolver)
  for (const path of readable) args.push('--ro-bind', path, path)
  const shown = [...system, ...readable, ...(workspace === null ? [] : [workspace])]
  const covers = hidden(plan, (path) => shown.some((folder) => liesIn(folder, path)))
  if (workspace !== null) {
    args.push('--bind', workspace, workspace)
    const kept = [...plan.readOnly, ...covers.map(({ path }) => path)]
    for (const path of foldersAround(workspace, kept)) args.push('--bind', path, path)
  }
  for (const path of plan.readOnly) args.push('--ro-bind', path, path)
  args.push(...covers.flatMap(({ path, isFolder }) => (isFolder ? emptyFolder(path) : emptyFile(path))))
  // Nothing can be mounted at a new path after the root is read-only.
  return [...args, ...(plan.last ?? []), '--remount-ro', '/']
}

/** A folder of the system is a link if `/usr` has its contents. */
const systemFolder = (path: string): string[] =>
  lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]

const emptyFile = (path: string): string[] => ['--ro-bind', '/dev/null', path]
const emptyFolder = (path: string): string[] => ['--tmpfs', path, '--remount-ro', path]

/** Finds the private entries of the shown folders, which need a cover. */
function hidden({ machine, hide, sockets }: MountPlan, isShown: (path: string) => boolean): PrivateEntry[] {
  const named = [...SERVICES.filter(isRealFolder), ...hide.filter(existsSync)].map((path) => ({
    path,
    isFolder: statSync(path).isDirectory(),
  }))
  const all = [
    ...machine.masked,
    ...named,
    ...[...socketPaths(), ...sockets].map((path) => ({ path, isFolder: false })),
  ].filter(({ path }) => isShown(path))
  const folders = all.filter(({ isFolder }) => isFolder).map(({ path }) => path)
  return all.filter(({ path }) => !folders.some((other) => other !== path && liesIn(other, path)))
}

/** The real paths of the sockets that programs of this machine have bound. */
export const socketPaths = (): string[] => boundSockets().flatMap((path) => realOrNull(path) ?? [])

/**
 * The folders between a writable folder and its protected or hidden paths, outer ones first. They are mounted too: a
 * mounted folder cannot be renamed, so it cannot be replaced together with its contents.
 */
export function foldersAround(writable: string, kept: readonly string[]): string[] {
  const found = new Set<string>()
  for (const path of kept) {
    const isNew = (folder: string) => folder !== writable && !found.has(folder) && liesIn(writable, folder)
    for (let folder = dirname(path); isNew(folder); folder = dirname(folder)) found.add(folder)
  }
  return [...found].sort((a, b) => a.length - b.length)
}

const realOrNull = (path: string): string | null => {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}

const isRealFolder = (path: string): boolean => realOrNull(path) === path && statSync(path).isDirectory()
