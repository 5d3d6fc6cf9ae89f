// Makes few files of many: most of the start of a command went into finding and reading its 900 modules.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '..')

/** The program, and the thread that it always starts. */
export const ENTRIES = ['api/cli/main.ts', 'adapters/sqlite/log/worker.ts']

/**
 * Packages that stay outside: they find files of their own (definitions of services, WebAssembly), are optional parts of
 * an installation (`pg` looks for `pg-native`), run alone in a process that may read nothing else, or come from the user.
 */
export const LEFT_OUT =
  /^(pg|@eventstore\/db-client|loro-crdt|unpdf|@mdream\/js|@langchain\/[\w-]+|ai|@anthropic-ai\/claude-agent-sdk)(\/|$)/

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
 * Takes Node's modules by `process.getBuiltinModule`. An `import` of one reads all its exports, and a getter of `node:http`
 * loads Node's fetch: a tenth of the start of a command.
 */
const builtins: Plugin = {
  name: 'builtins',
  renderChunk(code) {
    const one = /^import (?:(?:\* as )?([\w$]+))?(?:, )?(?:\{([^}]*)\})? from "([\w:/]+)";$/gm
    const replaced = code.replaceAll(one, (line, whole, names, id) => {
      const parts = [whole, names === undefined ? undefined : `{${names.replaceAll(' as ', ': ')}}`]
      const taken = `globalThis.process.getBuiltinModule("${id}")`
      return isBuiltin(id) ? parts.flatMap((part) => (part ? `const ${part} = ${taken};` : [])).join(' ') : line
    })
    return { code: replaced, map: null }
  },
}

/**
 * Modules that nearly every command loads. Each becomes one file with the modules that it imports and no earlier entry
 * imports: finding and reading many files is slow. The worker thread is the first entry, so it loads nothing of the program.
 */
const TOGETHER = [
  'adapters/sqlite/log/worker.ts',
  'api/cli/main.ts',
  'api/cli/context.ts',
  'api/process/owner/local.ts',
  'api/process/embedded/open-embedded.ts',
].map((path) => join(root, path))

/** Finds the first module of {@link TOGETHER} that imports a module statically, itself or through others. */
function together() {
  const imports = new Map<string, readonly string[]>()
  let groups: Map<string, string> | null = null
  const found = (): Map<string, string> => {
    const all = new Map<string, string>()
    for (const root of TOGETHER) {
      const open = [root]
      for (let id = open.pop(); id !== undefined; id = open.pop()) {
        if (all.has(id)) continue
        all.set(id, root)
        open.push(...(imports.get(id) ?? []))
      }
    }
    return all
  }
  const collect: Plugin = {
    name: 'together',
    moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds),
  }
  const groupOf = (id: string): string | undefined => {
    groups ??= found()
    // An entry runs the program. A file that imported it would wait for the program's end.
    return ENTRIES.includes(relative(root, id)) ? undefined : groups.get(id)
  }
  return { collect, groupOf }
}

/**
 * Writes the bundle into a folder: each entry at its own path, `.js`, and the rest beside them in `bundle`, with the licenses
 * of the packages that were taken in, whose folders it returns by name. `placeOf`: the absolute path at which a module (its path in the clone) believes itself.
 */
export async function bundle(
  target: string,
  { entries = ENTRIES, placeOf }: { readonly entries?: readonly string[]; readonly placeOf: PlaceOf },
): Promise<ReadonlyMap<string, string>> {
  const input = Object.fromEntries(entries.map((path) => [path.replace(/\.ts$/, ''), join(root, path)]))
  const { collect, groupOf } = together()
  const build = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    logLevel: 'warn',
    preserveEntrySignatures: 'allow-extension',
    external: LEFT_OUT,
    plugins: [addresses(target, placeOf), collect, builtins],
  })
  const { output } = await build.write({
    dir: target,
    format: 'esm',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: TOGETHER.map((path) => ({ name: basename(path, '.ts'), test: (id: string) => groupOf(id) === path })),
    },
    entryFileNames: '[name].js',
    chunkFileNames: 'bundle/[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await build.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  mustHaveNoCircle(chunks)
  const own = new Set(output.map(({ fileName }) => fileName))
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
  mustBeDeclared(imports.filter((id) => !own.has(id) && !isBuiltin(id)))
  const folders = new Map<string, string>()
  for (const id of chunks.flatMap(({ moduleIds }) => moduleIds)) {
    const [folder, name] = packageOf(id) ?? []
    if (folder !== undefined && name !== undefined) folders.set(name, folder)
  }
  writeFileSync(join(target, 'bundle', 'LICENSES.txt'), [...folders].sort().map(licenseOf).join('\n'))
  return folders
}

/** A `const` of {@link builtins} exists only once its file has run, so no file may import another one in a circle. */
function mustHaveNoCircle(chunks: readonly { readonly fileName: string; readonly imports: readonly string[] }[]): void {
  const imports = new Map(chunks.map((chunk) => [chunk.fileName, chunk.imports]))
  const done = new Set<string>()
  const visit = (name: string, way: readonly string[]): void => {
    if (way.includes(name)) throw new Error(`files of the bundle import each other: ${[...way, name].join(' → ')}`)
    if (done.has(name)) return
    for (const next of imports.get(name) ?? []) visit(next, [...way, name])
    done.add(name)
  }
  for (const name of imports.keys()) visit(name, [])
}

/** A package of a package that was taken in is not where the bundle looks for it. */
function mustBeDeclared(imports: readonly string[]): void {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly [key in 'dependencies' | 'peerDependencies']: object
  }
  const declared = { ...dependencies, ...peerDependencies }
  const names = imports.map((id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)![0])
  const undeclared = [...new Set(names)].filter((name) => !Object.hasOwn(declared, name))
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
