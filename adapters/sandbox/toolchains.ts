import { type Dirent, existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { liesIn } from '../files/inside.ts'

/** Folders of the system's programs, libraries and settings. Only an administrator fills them. */
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

/** Folders of other people, and of temporary files. A PATH that leads there shows nothing of them. */
const PRIVATE = ['/home', '/root', '/run', '/tmp', '/var/tmp', '/dev', '/proc', '/sys']

/** Folders in a home that contain tools of the PATH. None of them is known to hold credentials. */
const TOOL_HOMES = (
  '.pyenv .nvm .fnm .volta .nodenv .asdf .rbenv .rustup .sdkman .bun/bin .deno/bin .cargo/bin go/bin .local/bin ' +
  '.local/share/fnm .local/share/mise .local/share/pnpm .local/pipx/venvs .local/share/uv miniconda3 anaconda3'
).split(' ')

export interface ToolSearch {
  /** The home folder, from the environment. */
  readonly home: string
  /** Further homes: the one that the system knows for the user. */
  readonly otherHomes: readonly string[]
  /** The node that runs us. */
  readonly node: string
  /** Folders of the PATH. */
  readonly path: readonly string[]
  /** Real path of the workspace; null: there is none. */
  readonly workspace: string | null
}

/**
 * The files and folders outside of {@link SYSTEM} that the programs of the PATH need: a folder `bin` with what lies beside it,
 * another folder alone, and the targets of links in them. Of the home only the folders of known tools and of the PATH, of
 * other homes and temporary folders nothing but the node that runs us.
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

/** The existing folders, of the system's ones (`/bin` and `/usr/bin`) each once. */
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

/** Neither a folder at the top of the machine (`/opt`), nor one around the workspace or a home. */
const isNarrow = (path: string, { home, otherHomes, workspace }: ToolSearch): boolean =>
  dirname(path) !== '/' &&
  ![home, ...otherHomes, ...(workspace ? [workspace] : [])].some((other) => liesIn(path, other))

/** The targets of the links in a folder that lead out of the system's folders: the next one, and the last one. */
function linksOutOf(folder: string): string[] {
  const real = realpathSync.native(folder)
  const targets = entriesOf(folder).flatMap(({ name }) => {
    const link = join(real, name)
    try {
      return [resolve(real, readlinkSync(link)), realpathSync.native(link)]
    } catch {
      // It leads nowhere.
      return []
    }
  })
  return targets.filter((target) => !isOfSystem(target))
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink())
  } catch {
    // This user may not read it.
    return []
  }
}
