import { type Dirent, existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { liesIn } from '../files/inside.ts'

/** Folders of the system's programs, libraries and settings. Only an administrator can change them. */
export const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/nix/store',
  '/gnu/store',
]

/** Folders of other users and of temporary files. Their entries on the PATH are not shown. */
const PRIVATE = ['/home', '/root', '/run', '/tmp', '/var/tmp', '/dev', '/proc', '/sys']

/** Folders in a home that contain tools of the PATH. None of them is known to contain credentials. */
const TOOL_HOMES = (
  '.pyenv .nvm .fnm .volta .nodenv .asdf .rbenv .rustup .sdkman .bun/bin .deno/bin .cargo/bin go/bin .local/bin ' +
  '.local/share/fnm .local/share/mise .local/share/pnpm .local/pipx/venvs .local/share/uv miniconda3 anaconda3'
).split(' ')

export interface ToolSearch {
  /** The home folder, from the environment. */
  readonly home: string
  /** Other homes: the user's home according to the system. */
  readonly otherHomes: readonly string[]
  /** The path of the node that runs keepup. */
  readonly node: string
  /** Folders of the PATH. */
  readonly path: readonly string[]
  /** The real path of the workspace. Null: none. */
  readonly workspace: string | null
}

/**
 * The files and folders outside {@link SYSTEM} that the programs of the PATH need: the parent of a folder `bin`, any
 * other folder alone, and the targets of links in them. In the home, only the folders of known tools and of the PATH.
 * In other homes and temporary folders, only the node that runs keepup.
 */
export function toolPaths(search: ToolSearch): string[] {
  const { home, node, path } = search
  const kept = new Set<string>()
  const keep = (folder: string, otherwise = folder) => {
    if (isOfSystem(folder)) return
    const wide = around(folder)
    const shown = isNarrow(wide, search) ? wide : otherwise
    if (isNarrow(shown, search)) kept.add(shown)
  }
  for (const folder of distinct(path)) {
    if (home !== '/' && liesIn(home, folder)) kept.add(ownerOf(home, folder))
    else if (isPrivate(folder, search)) continue
    else keep(folder)
    const real = realpathSync.native(folder)
    if (!isPrivate(real, search)) keep(real)
    for (const target of linksOutOf(folder)) if (!isPrivate(target, search)) keep(dirname(target), target)
  }
  if (isPrivate(node, search)) kept.add(node)
  else keep(dirname(node), node)
  const all = [...kept].filter((shown) => existsSync(shown) && !liesIn(shown, home))
  return all.filter((shown) => !all.some((other) => other !== shown && liesIn(other, shown)))
}

/** The existing folders. Folders of the system that are the same (`/bin` and `/usr/bin`) appear once. */
function distinct(path: readonly string[]): string[] {
  const seen = new Set<string>()
  return path.filter((folder) => {
    if (!existsSync(folder)) return false
    const key = isOfSystem(folder) ? realpathSync.native(folder) : folder
    return !seen.has(key) && seen.add(key)
  })
}

const isOfSystem = (path: string): boolean => SYSTEM.some((folder) => liesIn(folder, path))

/** The folder of a tool with its `bin`, such as `/opt/node` for `/opt/node/bin`. */
const around = (folder: string): string => (/^(s?|\.)bin$/.test(basename(folder)) ? dirname(folder) : folder)

const ownerOf = (home: string, folder: string): string =>
  TOOL_HOMES.map((name) => join(home, name)).find((root) => liesIn(root, folder)) ?? folder

const isPrivate = (path: string, { home, otherHomes }: ToolSearch): boolean => {
  const homes = [home, ...otherHomes].filter((folder) => folder !== '/')
  return [...PRIVATE, ...homes].some((folder) => liesIn(folder, path))
}

/** False for a folder at the top of the machine (`/opt`), and for a folder around the workspace or a home. */
const isNarrow = (path: string, { home, otherHomes, workspace }: ToolSearch): boolean =>
  dirname(path) !== '/' &&
  ![home, ...otherHomes, ...(workspace ? [workspace] : [])].some((other) => liesIn(path, other))

/**
 * The targets outside the system's folders of the links in a folder: the next target and the final one of each link.
 */
function linksOutOf(folder: string): string[] {
  const real = realpathSync.native(folder)
  const targets = entriesOf(folder).flatMap(({ name }) => {
    const link = join(real, name)
    try {
      return [resolve(real, readlinkSync(link)), realpathSync.native(link)]
    } catch {
      // The link has no target.
      return []
    }
  })
  return targets.filter((target) => !isOfSystem(target))
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink())
  } catch {
    // This user may not read the folder.
    return []
  }
}
