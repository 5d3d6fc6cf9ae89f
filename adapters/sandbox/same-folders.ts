import { lstatSync } from 'node:fs'
import { liesIn } from '../files/inside.ts'
import { type HeldFolder, replaced } from './held-folder.ts'

/** The descriptor for the word of a guard that it does not run its program. */
export const REFUSED = 6

/**
 * Compares the device and inode of paths in pairs of arguments (expected lines, quoted paths) up to `:`. The rest of the
 * arguments is the program. Does not search the PATH of the program, which may contain folders of the workspace.
 */
const COMPARE = `
while [ "$1" != : ]; do
  if [ "$(eval "PATH=/usr/bin:/bin:/run/current-system/sw/bin stat -L -c %d:%i -- $2")" != "$1" ]; then
    echo 'another process replaced a folder of the workspace before the start; end that process, then try again' >&2
    echo refused 2>/dev/null >&${REFUSED}
    exit 125
  fi
  shift 2
done
shift
exec ${REFUSED}>&-
exec "$@"`

/** The paths of one comparison: an argument is limited to 128 KiB, a path to 4 KiB. */
const AT_ONCE = 16

/**
 * A command for the sandbox that runs the program in its arguments only if the mounts of the workspace are the same
 * folders and files as those of the open folder. bubblewrap mounts by name, and another process can replace a name by a
 * link at any time. Throws ToolError SANDBOX_VIOLATION if a link has already replaced a folder.
 */
export function sameFolders(folder: HeldFolder, mounts: readonly string[]): string[] {
  const all = [...mountedIn(folder, mounts)]
  const pairs: string[] = []
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE)
    pairs.push(some.map(([, source]) => identityOf(folder, source)).join('\n'))
    pairs.push(some.map(([path]) => `'${path.replaceAll("'", `'\\''`)}'`).join(' '))
  }
  return ['/bin/sh', '-c', COMPARE, 'sh', ...pairs, ':']
}

/** The mounts of the workspace and below that no later mount covers: their path in the sandbox, and their source. */
function mountedIn(folder: HeldFolder, mounts: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  const first = mounts.findIndex((argument, at) => argument === '--bind' && mounts[at + 1] === folder.path)
  for (let at = first; at < mounts.length; at += 1) {
    const [how, source = '', path = ''] = mounts.slice(at, at + 3)
    if (how === '--tmpfs') found.delete(source)
    if (how !== '--bind' && how !== '--ro-bind') continue
    if (liesIn(folder.path, source)) found.set(path, source)
    else found.delete(path)
    at += 2
  }
  return found
}

function identityOf(folder: HeldFolder, path: string): string {
  const stats = lstatSync(folder.at(path), { bigint: true, throwIfNoEntry: false })
  if (stats?.isSymbolicLink()) throw replaced(folder.path)
  return stats === undefined ? 'missing' : `${stats.dev}:${stats.ino}`
}
