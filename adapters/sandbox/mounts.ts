import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { liesIn } from '../files/inside.ts'
import { boundSockets } from './listening.ts'
import type { Machine } from './machine.ts'
import { SYSTEM } from './toolchains.ts'

export interface MountPlan {
  readonly machine: Machine
  /** The real path of the workspace. Null: none; only folders in memory are writable. */
  readonly workspace: string | null
  /** More absolute paths that can be read. Missing paths are skipped. */
  readonly readable: readonly string[]
  /** Real paths in the workspace that commands can only read. Commands cannot move them, or a folder around them. */
  readonly readOnly: readonly string[]
  /** Real paths to hide: the data folder, the vault, tokens. */
  readonly hide: readonly string[]
  /** Whether this bubblewrap knows `--size`. */
  readonly bounds: boolean
  readonly network: boolean
}

/** Folders that are empty and writable, in memory. */
const EMPTIED = ['/run', '/tmp', '/var/tmp']
/** Places within {@link SYSTEM} with data and sockets of services, and the settings of the SSH server. */
const SERVICES = ['/usr/local/var', '/usr/var', '/etc/ssh']
/** The limit of each folder in memory, in bytes. */
const MEMORY_BYTES = 2 * 1024 ** 3

/**
 * bubblewrap's mounts in order, starting with an empty root: the system, homes and temporary folders in memory, tools
 * and declared paths, the workspace, its protected paths read-only, and last the covers of hidden paths.
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
  if (workspace !== null) args.push('--bind', workspace, workspace)
  // A mounted folder cannot be renamed, so it cannot be replaced together with its contents.
  for (const path of foldersAround(plan)) args.push('--bind', path, path)
  for (const path of plan.readOnly) args.push('--ro-bind', path, path)
  const shown = [...system, ...readable, ...(workspace === null ? [] : [workspace])]
  args.push(...hidden(plan, (path) => shown.some((folder) => liesIn(folder, path))))
  return [...args, '--remount-ro', '/']
}

/** A folder of the system is a link if `/usr` has its contents. */
const systemFolder = (path: string): string[] =>
  lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]

const emptyFile = (path: string): string[] => ['--ro-bind', '/dev/null', path]
const emptyFolder = (path: string): string[] => ['--tmpfs', path, '--remount-ro', path]

/** Covers the private entries of the shown folders. Entries outside them need no cover. */
function hidden({ machine, hide }: MountPlan, isShown: (path: string) => boolean): string[] {
  const named = [...SERVICES.filter(isRealFolder), ...hide.filter(existsSync)].map((path) => ({
    path,
    isFolder: statSync(path).isDirectory(),
  }))
  const sockets = boundSockets().filter(existsSync)
  const all = [...machine.masked, ...named, ...sockets.map((path) => ({ path, isFolder: false }))].filter(({ path }) =>
    isShown(path),
  )
  const folders = all.filter(({ isFolder }) => isFolder).map(({ path }) => path)
  const outermost = all.filter(({ path }) => !folders.some((other) => other !== path && liesIn(other, path)))
  return outermost.flatMap(({ path, isFolder }) => (isFolder ? emptyFolder(path) : emptyFile(path)))
}

/** The folders between the workspace and the protected paths, outer ones first. */
function foldersAround({ workspace, readOnly }: MountPlan): string[] {
  const found = new Set<string>()
  if (workspace === null) return []
  for (const path of readOnly) {
    for (let folder = dirname(path); folder !== workspace && liesIn(workspace, folder); folder = dirname(folder))
      found.add(folder)
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
