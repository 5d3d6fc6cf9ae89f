import { lstatSync, readlinkSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** The most links on the way to a path, as in Linux. */
const MAX_LINKS = 40

interface Step {
  readonly at: string
  readonly link: boolean
}

/**
 * Every folder, link and file on the way to an absolute path, in the order of the system's resolution. Throws the file
 * system's error at a part that is missing or inaccessible, and an error after 40 links. `start`: a folder on the way
 * with a real path. `through`: the path by which to look at a part.
 */
export function* stepsTo(
  path: string,
  { start = '/', through = (part) => part }: { start?: string; through?: (part: string) => string } = {},
): Generator<Step> {
  const left = partsOf(path.slice(start.length))
  let at = start
  let links = 0
  yield { at, link: false }
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    const next = join(at, part)
    const link = lstatSync(through(next)).isSymbolicLink()
    yield { at: next, link }
    if (!link) {
      at = next
      continue
    }
    if (++links > MAX_LINKS) throw new Error(`too many links on the way to ${path}`)
    const target = readlinkSync(through(next))
    if (isAbsolute(target)) at = '/'
    left.unshift(...partsOf(target))
  }
}

/** Keeps `..`, because after a link it leads to the parent of the link's target. */
const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')
