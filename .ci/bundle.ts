// Makes few files of many: most of the start of a command went into finding and reading its 900 modules.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '..')

/** The program, and the thread that it always starts. */
export const ENTRIES = ['api/cli/main.ts', 'adapters/sqlite/log/worker.ts']

/** What every command loads; other packages are loaded from where they are installed, and only where they are used. */
const TAKEN_IN =
  /^(zod|kysely|hono|@hono\/zod-(?:openapi|validator)|@asteasolutions\/zod-to-openapi|openapi3-ts|yaml|commander|canonicalize|re2js|saxes|xmlchars|diff|fast-string-width|fast-string-truncated-width)(\/|$)/

/** The place of a module by its path in the clone; both absolute where they are places. */
type PlaceOf = (path: string) => string

const compiled = (path: string): string => path.replace(/\.ts$/, '.js')
const packageOf = (id: string) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)

/** A module finds its neighbours by its own address, wherever its text has been moved to. */
function addresses(target: string, placeOf: PlaceOf): Plugin {
  const mark = 'keepup-module:'
  return {
    name: 'addresses',
    transform: {
      filter: { code: 'import.meta.url', id: { exclude: /node_modules/ } },
      handler(code, id) {
        const place = JSON.stringify(mark + placeOf(relative(root, id)))
        return { code: code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`), map: null }
      },
    },
    renderChunk(code, { fileName }) {
      const from = dirname(join(target, fileName))
      const near = (_: string, place: string) => JSON.stringify(`./${relative(from, place).split(sep).join(posix.sep)}`)
      return { code: code.replaceAll(new RegExp(`"${mark}([^"]+)"`, 'g'), near), map: null }
    },
  }
}

/**
 * Writes the bundle into a folder: each entry at its own path, `.js`, and the rest beside them in `bundle`, with the licenses
 * of the packages that were taken in. `placeOf`: the absolute path at which a module (its path in the clone) believes itself.
 */
export async function bundle(
  target: string,
  { entries = ENTRIES, placeOf }: { readonly entries?: readonly string[]; readonly placeOf: PlaceOf },
): Promise<void> {
  const input = Object.fromEntries(entries.map((path) => [path.replace(/\.ts$/, ''), join(root, path)]))
  const build = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    logLevel: 'warn',
    external: (id) => !/^[./]/.test(id) && !TAKEN_IN.test(id),
    plugins: [addresses(target, placeOf)],
  })
  const { output } = await build.write({
    dir: target,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'bundle/[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await build.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  const own = new Set(output.map(({ fileName }) => fileName))
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
  mustBeDeclared(imports.filter((id) => !own.has(id) && !isBuiltin(id)))
  const folders = new Map<string, string>()
  for (const id of chunks.flatMap(({ moduleIds }) => moduleIds)) {
    const [folder, name] = packageOf(id) ?? []
    if (folder !== undefined && name !== undefined) folders.set(name, folder)
  }
  writeFileSync(join(target, 'bundle', 'LICENSES.txt'), [...folders].sort().map(licenseOf).join('\n'))
}

/** A package of a package that was taken in is not where the bundle looks for it. */
function mustBeDeclared(imports: readonly string[]): void {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object }
  const names = imports.map((id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)![0])
  const undeclared = [...new Set(names)].filter((name) => !Object.hasOwn(dependencies, name))
  if (undeclared.length > 0)
    throw new Error(`the bundle imports ${undeclared.join(', ')}, which package.json does not declare; take it in here`)
}

function licenseOf([name, folder]: readonly [string, string]): string {
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const text =
    file === undefined
      ? `by ${author?.name ?? author ?? 'its authors'}`
      : readFileSync(join(folder, file), 'utf8').trim()
  return `${name} (${license})\n\n${text}\n`
}

/** In the compiled tree every module stays where it was, as JavaScript. */
export const inPackage =
  (dist: string): PlaceOf =>
  (path) =>
    join(dist, compiled(path))

/** In the clone modules find what lies beside them there; only the threads of the bundle are its own. */
export const inClone =
  (target: string): PlaceOf =>
  (path) =>
    ENTRIES.slice(1).some((entry) => dirname(entry) === dirname(path)) && existsSync(join(root, path))
      ? join(target, compiled(path))
      : join(root, path)
