// The public types: the exports of each entry point of the package, and the members and parameters of each. `npm run
// types:report` writes the report, and with `--check` compares it.

import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { API, type Checker, type Symbol as Name, type Project, SymbolFlags } from 'typescript/unstable/sync'

const ROOT = resolve(import.meta.dirname, '..')
export const REPORT = join(ROOT, 'api/library/public-types.txt')

/** The right side of an alias, and not its name again. Long types are truncated, as in the messages of the compiler. */
const OF_ALIAS = 8388608 /* InTypeAlias */
/** Members with symbols as names have a number in them that changes. */
const PRIVATE = /^(#|_#|__)/

interface Declared {
  readonly name: string
  readonly file: string
  readonly text: string
}

/** Reports on the modules by their names as entries. `files`: paths from `root`. */
export function typesReport(tsconfig: string, root: string, entries: Readonly<Record<string, string>>): string {
  const api = new API()
  try {
    const [project] = api.updateSnapshot({ openProjects: [tsconfig] }).getProjects()
    if (project === undefined) throw new Error(`${tsconfig} cannot be opened`)
    return new Report(project, root).of(entries)
  } finally {
    api.close()
  }
}

class Report {
  readonly #project: Project
  readonly #checker: Checker
  readonly #root: string
  readonly #declared = new Map<number, Declared>()

  constructor(project: Project, root: string) {
    this.#project = project
    this.#checker = project.checker
    this.#root = root
  }

  of(entries: Readonly<Record<string, string>>): string {
    const lists = Object.entries(entries).map(([entry, file]) => {
      const names = this.#exports(join(this.#root, file)).filter(({ name }) => name !== 'z')
      for (const name of names) this.#add(this.#meant(name))
      const lines = names.map((name) => {
        const { name: of } = this.#meant(name)
        return of === name.name || of === 'default' ? name.name : `${name.name} (${of})`
      })
      return `# ${entry}\n\n${lines.sort().join('\n')}\n`
    })
    const all = [...this.#declared.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1))
    return `${lists.join('\n')}\n# declarations\n\n${all.map(({ file, text }) => `// ${file}\n${text}\n`).join('\n')}`
  }

  #exports(file: string): readonly Name[] {
    const source = this.#project.program.getSourceFile(file)
    const module = source && this.#checker.getSymbolAtLocation(source)
    return module === undefined ? [] : this.#checker.getExportsOfModule(module)
  }

  #meant = (name: Name): Name => (name.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(name) : name)

  /** Adds the declaration of a name of ours. */
  #add(name: Name): void {
    const [handle] = name.declarations
    if (this.#declared.has(name.id) || handle === undefined || handle.path.includes('/node_modules/')) return
    const place = { name: name.name, file: relative(this.#root.toLowerCase(), handle.path.toLowerCase()) }
    this.#declared.set(name.id, { ...place, text: '' })
    const text = this.#text(name)
    this.#declared.set(name.id, { ...place, text })
  }

  #text(name: Name): string {
    const { flags } = name
    const parts: string[] = []
    if (flags & SymbolFlags.TypeAlias)
      parts.push(
        `type ${name.name} = ${this.#checker.typeToString(this.#checker.getDeclaredTypeOfSymbol(name), undefined, OF_ALIAS)}`,
      )
    if (flags & (SymbolFlags.Interface | SymbolFlags.Class)) parts.push(this.#members(name))
    const type = flags & SymbolFlags.Value ? this.#checker.getTypeOfSymbol(name) : undefined
    if (type !== undefined)
      parts.push(
        `${flags & SymbolFlags.Function ? 'function' : flags & SymbolFlags.Class ? 'constructor' : 'const'} ${name.name}: ${this.#valueText(name, type)}`,
      )
    return parts.join('\n')
  }

  /** Schemas are named only: their types are exported beside them. */
  #valueText(name: Name, type: Parameters<Checker['typeToString']>[0]): string {
    if (name.flags & SymbolFlags.Class) {
      const constructors = this.#checker.getSignaturesOfType(type, 1)
      return constructors.map((one) => `(${this.#parameters(one)})`).join(' & ')
    }
    const text = this.#checker.typeToString(type)
    return /^Zod\w+</.test(text) ? text.slice(0, text.indexOf('<')) : text
  }

  #parameters(signature: ReturnType<Checker['getSignaturesOfType']>[number]): string {
    return signature
      .getParameters()
      .map((one) => `${one.name}: ${this.#checker.typeToString(this.#checker.getTypeOfSymbol(one)!)}`)
      .join(', ')
  }

  #members(name: Name): string {
    const type = this.#checker.getDeclaredTypeOfSymbol(name)
    const lines = this.#checker.getPropertiesOfType(type).flatMap((member) => {
      if (PRIVATE.test(member.name)) return []
      const of = this.#checker.getTypeOfSymbol(member)
      const optional = member.flags & SymbolFlags.Optional ? '?' : ''
      const text = of === undefined ? '?' : this.#checker.typeToString(of)
      return [`  ${member.name}${optional}: ${text.replaceAll('\n', '\n  ')}`]
    })
    const calls = this.#checker.getSignaturesOfType(type, 0).map((one) => `  (${this.#parameters(one)})`)
    return `${name.flags & SymbolFlags.Class ? 'class' : 'interface'} ${name.name} {\n${[...calls, ...lines].join('\n')}\n}`
  }
}

const key = ({ file, name }: Declared): string => `${file} ${name}`

/** The report on the package. */
export function ownReport(): string {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string>
  }
  const entries = Object.fromEntries(Object.entries(exports).filter(([, file]) => file.endsWith('.ts')))
  return typesReport(join(import.meta.dirname, 'tsconfig.types.json'), ROOT, entries)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const report = ownReport()
  if (!process.argv.includes('--check')) writeFileSync(REPORT, report)
  else if (readFileSync(REPORT, 'utf8') !== report) {
    process.stderr.write(
      `${relative(ROOT, REPORT)} does not show the present types; run "npm run types:report", read the difference, and commit it\n`,
    )
    process.exitCode = 1
  }
}
