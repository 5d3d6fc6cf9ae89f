import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { liesIn } from '../files/inside.ts'

export interface MountPlan {
  /** The home folder, from the environment. */
  readonly home: string
  /** Further homes: the one that the system knows for the user. */
  readonly otherHomes: readonly string[]
  /** The node that runs us. */
  readonly node: string
  /** Folders of the PATH. */
  readonly path: readonly string[]
  /** Real path of the workspace; null: there is none, and nothing can be changed but folders in memory. */
  readonly workspace: string | null
  /** Further paths that can be read. */
  readonly readable: readonly string[]
  /** Real paths in the workspace that commands may read only, and not move with a folder around them. */
  readonly readOnly: readonly string[]
  /** Links in the workspace that commands may not move with a folder around them. */
  readonly links: readonly string[]
  /** Real paths that must not be seen: the data folder, the vault, tokens. */
  readonly hide: readonly string[]
  /** Whether this bubblewrap knows `--size`. */
  readonly bounds: boolean
  readonly network: boolean
  /** keepup runs as root, so file permissions do not stop commands. */
  readonly root: boolean
}

/** Empty in the sandbox: other people's homes, sockets of the system's services, shared temporary files. */
const EMPTIED = ['/home', '/run', '/tmp', '/var/tmp', '/var/run']
/** The limit of each folder in memory. In bytes. */
const MEMORY_BYTES = 2 * 1024 ** 3
/** Files that only root may read. */
const ROOT_SECRETS = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/ssh', '/etc/ssl/private']
/** Folders in a home that contain tools of the PATH. None of them is known to hold credentials. */
const TOOL_HOMES = (
  '.pyenv .nvm .fnm .volta .nodenv .asdf .rbenv .rustup .sdkman .bun/bin .deno/bin .cargo/bin go/bin .local/bin ' +
  '.local/share/fnm .local/share/mise .local/share/pnpm .local/pipx/venvs .local/share/uv miniconda3 anaconda3'
).split(' ')

/**
 * The mounts of bubblewrap in order, later ones on top: the machine read-only, homes and temporary folders empty, tools of
 * the PATH, the workspace writable except protected paths, and last the hidden paths.
 */
export function mountArguments(plan: MountPlan): string[] {
  const emptied = [...new Set([...EMPTIED, plan.home, ...plan.otherHomes])].filter(
    (path) => path !== '/' && isRealFolder(path),
  )
  const within = (path: string) => emptied.some((folder) => liesIn(folder, path))
  const inMemory = (path: string) => [...(plan.bounds ? ['--size', String(MEMORY_BYTES)] : []), '--tmpfs', path]
  const args = ['--ro-bind', '/', '/', '--dev', '/dev', ...inMemory('/dev/shm'), '--remount-ro', '/dev']
  // As root, writing to /proc/sys would reach the machine itself.
  args.push('--proc', '/proc', '--remount-ro', '/proc')
  for (const folder of emptied) args.push(...inMemory(folder))
  const readable = [...toolPaths(plan), ...plan.readable.filter(existsSync)]
  for (const path of readable.filter(within)) args.push('--ro-bind', path, path)
  if (plan.network) {
    const resolver = realOrNull('/etc/resolv.conf')
    if (resolver && within(resolver)) args.push('--ro-bind', resolver, resolver)
  }
  if (plan.workspace !== null) args.push('--bind', plan.workspace, plan.workspace)
  // A folder that is mounted cannot be renamed, and so not replaced together with what is in it.
  for (const path of foldersAround(plan)) args.push('--bind-try', path, path)
  for (const path of plan.readOnly) args.push('--ro-bind-try', path, path)
  const hidden = plan.root ? [...ROOT_SECRETS, ...plan.hide] : plan.hide
  for (const path of hidden.filter(existsSync)) {
    if (statSync(path).isDirectory()) args.push('--tmpfs', path, '--remount-ro', path)
    else args.push('--ro-bind', '/dev/null', path)
  }
  return args
}

/** The folders between the workspace and the protected paths, the outer ones first. */
function foldersAround({ workspace, readOnly, links }: MountPlan): string[] {
  const found = new Set<string>()
  if (workspace === null) return []
  for (const path of [...readOnly, ...links]) {
    for (let folder = dirname(path); folder !== workspace && liesIn(workspace, folder); folder = dirname(folder))
      found.add(folder)
  }
  return [...found].sort((a, b) => a.length - b.length)
}

/** Folders that must stay visible for the PATH to work. Never a home itself or a folder above it. */
function toolPaths(plan: MountPlan): string[] {
  const folders = plan.path.flatMap((folder) => {
    if (!liesIn(plan.home, folder)) return []
    const owner = TOOL_HOMES.map((name) => join(plan.home, name)).find((root) => liesIn(root, folder))
    return [owner ?? folder]
  })
  const prefix = dirname(dirname(plan.node))
  const nodes = liesIn(prefix, plan.home) || EMPTIED.some((folder) => liesIn(prefix, folder)) ? [plan.node] : [prefix]
  return [...new Set([...nodes, ...folders])].filter((path) => existsSync(path) && !liesIn(path, plan.home))
}

const realOrNull = (path: string): string | null => {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}

const isRealFolder = (path: string): boolean => realOrNull(path) === path && statSync(path).isDirectory()
