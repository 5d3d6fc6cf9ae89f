// The declarations that the entries of the package reach, and the packages that they name.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const NAMED = /(?:from\s+|import\s*\(?\s*)['"]([^'"\n]+)['"]/g

/** The name of the package of an import, without the path in it. */
export const packageOf = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)[0]

/** Follows imports from declarations (`.d.ts`). Returns the paths of all of them, and the names of packages. */
export function reachable(entries) {
  const files = new Set()
  const packages = new Set()
  const open = [...entries]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue
    files.add(file)
    for (const [, id] of readFileSync(file, 'utf8').matchAll(NAMED)) {
      if (id.startsWith('.')) {
        const next = join(dirname(file), id.replace(/\.[jt]s$/, '.d.ts'))
        if (!existsSync(next)) throw new Error(`${file} names ${id}, which has no declarations`)
        open.push(next)
      } else if (!id.startsWith('node:')) packages.add(packageOf(id))
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() }
}
