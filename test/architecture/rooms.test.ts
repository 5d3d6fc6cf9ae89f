import { readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { circles, imports, loadedBy, read, root, sources } from './import-graph.ts'

// The house has rooms, and doors between them only where DESIGN put them.

const room = (path: string) => path.split('/')[0]!
const isOfRuntime = (path: string) => path.startsWith('domain/') && path.includes('/runtime/')
const isPure = (path: string) => path.startsWith('domain/') && !isOfRuntime(path) && !path.startsWith('domain/ports/')
const PACKAGES = new Set(['zod', 'canonicalize', 'node:crypto'])
/** Packages that one pure room alone may import. */
const OF_ROOM: Readonly<Record<string, readonly string[]>> = { 'domain/secrets': ['re2js'] }
const mayImport = (path: string, name: string) => PACKAGES.has(name) || OF_ROOM[dirname(path)]?.includes(name) === true
const inHouse = (name: string) => ['domain', 'adapters', 'projections', 'api', 'test'].includes(room(name))

const allowed: Record<string, readonly string[]> = {
  domain: ['domain'],
  adapters: ['domain', 'adapters'],
  projections: ['domain', 'projections'],
  api: ['domain', 'adapters', 'projections', 'api'],
}

test.each(Object.keys(allowed))('%s imports only the rooms it may', (name) => {
  const wrong = sources(name).flatMap((path) =>
    imports(path)
      .filter((target) => inHouse(target) && !allowed[name]!.includes(room(target)))
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('no files import each other in a circle, neither values nor types', () => {
  const graph = new Map(Object.keys(allowed).flatMap((name) => sources(name).map((path) => [path, imports(path)])))
  expect(graph.size).toBeGreaterThan(1_000)
  expect(circles(graph)).toEqual([])
})

test('a circle is found wherever it lies, and nothing else is one', () => {
  const graph = { a: ['b', 'out'], b: ['c', 'd'], c: ['b'], d: ['e'], e: ['f'], f: ['d'], g: ['g'], h: ['a', 'e'] }
  const found = circles(new Map(Object.entries(graph))).map((circle) => circle.sort().join(''))
  expect(found.sort()).toEqual(['bc', 'def', 'g'])
})

test('outside of runtime folders domain imports zod, hashing, canonical JSON and itself, never a runtime folder', () => {
  const wrong = sources('domain')
    .filter(isPure)
    .flatMap((path) =>
      imports(path)
        .filter((target) => (inHouse(target) ? isOfRuntime(target) : !mayImport(path, target)))
        .map((target) => `${path} imports ${target}`),
    )
  expect(wrong).toEqual([])
})

/** The rooms of domain that every kind may import. */
const SHARED = ['calls', 'courier', 'log', 'ports', 'secrets', 'stream', 'tree']
/** The kinds of streams. Each has a folder of this name in every room. */
const KINDS = readdirSync(join(root, 'domain'), { withFileTypes: true })
  .filter((one) => one.isDirectory() && !SHARED.includes(one.name))
  .map(({ name }) => name)
const roomOf = (path: string) => path.split('/')[1]!.replace(/\.ts$/, '')

test('kinds import the shared rooms and the registry of kinds, not each other; shared rooms import no kind', () => {
  const found = new Set(
    sources('domain').flatMap((path) =>
      imports(path)
        .filter((target) => target.startsWith('domain/'))
        .map((target) => [roomOf(path), roomOf(target)] as const)
        .filter(([from, to]) => from !== to && !['kinds', 'ports'].includes(from))
        .filter(([from, to]) => !(SHARED.includes(to) && [...KINDS, ...SHARED].includes(from)))
        .filter(([from, to]) => !(to === 'kinds' && KINDS.includes(from)))
        .map(([from, to]) => `${from} > ${to}`),
    ),
  )
  expect([...found]).toEqual([])
})

test('every kind has its folder in domain, projections and operations', () => {
  for (const room of ['domain', 'projections', 'api/operations'])
    for (const kind of room === 'api/operations' ? KINDS.filter((one) => one !== 'agent') : KINDS)
      expect(sources(`${room}/${kind}`).length, `${room}/${kind}`).toBeGreaterThan(0)
})

test('streams know no kind of stream', () => {
  const named = ['domain/log', 'domain/stream']
    .flatMap(sources)
    .filter((path) => /\bagentStream\b|'agent-/.test(read(path)))
  expect(named).toEqual(['domain/log/ids.ts'])
})

test('spawn-and-wait knows neither how agents are driven nor how their runs are recorded', () => {
  const wrong = sources('domain/external/spawn').flatMap((path) =>
    imports(path)
      .filter((target) =>
        /^domain\/(agent\/|courier|stream\/(?!runtime\/(time-limit|concurrency))|external\/(?!spawn\/))/.test(target),
      )
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('within an agent decisions import rules, rules the state, the state events, events the definition', () => {
  const floors = ['definition', 'events', 'state', 'control', 'rules', 'decide', 'runtime']
  const floor = (path: string) => floors.indexOf(path.split('/')[2]!)
  const wrong = sources('domain/agent').flatMap((path) =>
    imports(path)
      .filter((target) => target.startsWith('domain/agent/') && floor(path) >= 0 && floor(target) > floor(path))
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('within a document the stream imports the envelope, which imports the markup, and all import the model', () => {
  const floors = ['', 'model', 'markup', 'envelope', 'stream']
  const floor = (path: string) => floors.indexOf(dirname(relative('domain/document', path)).replace(/^\.$/, ''))
  const wrong = sources('domain/document')
    .filter(isPure)
    .flatMap((path) =>
      imports(path)
        .filter(
          (target) => target.startsWith('domain/document/') && !(floor(target) <= floor(path) && floor(target) >= 0),
        )
        .map((target) => `${path} imports ${target}`),
    )
  expect(wrong).toEqual([])
})

test('only the adapters of documents know Loro and the parser', () => {
  const owners: Readonly<Record<string, string>> = {
    'loro-crdt': 'adapters/loro/',
    saxes: 'adapters/loro/xml/',
  }
  const found = Object.keys(allowed)
    .flatMap(sources)
    .flatMap((path) =>
      imports(path).flatMap((name) => (owners[name] === undefined ? [] : [[path, owners[name]] as const])),
    )
  expect(found.length).toBeGreaterThan(1)
  expect(found.filter(([path, owner]) => !path.startsWith(owner)).map(([path]) => path)).toEqual([])
})

test('each hack stands in one file', () => {
  const hacks: Readonly<Record<string, readonly [pattern: RegExp, file: string]>> = {
    'a process that replaces itself': [/\.execve\b/, 'api/cli/keepup.js'],
    'the stack pointer of Loro': [/__wbindgen|__wasm/, 'adapters/loro/stack-trap.ts'],
    'files of the EventStoreDB client': [/@eventstore\/db-client\//, 'adapters/eventstore/client-internals.ts'],
    'a thread whose program is text': [/\beval: true\b/, 'api/process/embedded/sql/child.ts'],
  }
  const files = [...Object.keys(allowed).flatMap(sources), 'api/cli/keepup.js']
  for (const [hack, [pattern, file]] of Object.entries(hacks))
    expect([hack, files.filter((path) => pattern.test(read(path)))]).toEqual([hack, [file]])
})

test('the runtime imports no package', () => {
  const ofRuntime = sources('domain').filter(isOfRuntime)
  expect(ofRuntime.length).toBeGreaterThan(100)
  const wrong = ofRuntime.flatMap((path) => imports(path).filter((target) => !inHouse(target)))
  expect(wrong).toEqual([])
})

test('pure rooms have no clock, no randomness, no environment, nothing asynchronous', () => {
  const forbidden = [
    /\basync\b/,
    /\bawait\b/,
    /\bDate\b/,
    /\bTemporal\b/,
    /\bIntl\b/,
    /Math\.random/,
    /\bprocess\./,
    /performance\./,
  ]
  const calendar = 'domain/log/instant.ts'
  expect(read(calendar)).not.toMatch(/\bDate\.now\b|new Date\(\)|Date\(\)/)
  const wrong = sources('domain')
    .filter((path) => isPure(path) && path !== calendar)
    .flatMap((path) => {
      const code = read(path).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      return forbidden.filter((pattern) => pattern.test(code)).map((pattern) => `${path}: ${pattern}`)
    })
  expect(wrong).toEqual([])
})

test('operations know no entry point, and only their library faces know the library', () => {
  const packages = ['hono', '@hono', 'commander', '@clack', 'node:http', 'node:net']
  const isEntry = (path: string) => path.endsWith('/library.ts')
  const foreign = (target: string) =>
    target.startsWith('api/')
      ? !/^api\/(operations\/|process\/(config|drives|live)\/|version\.ts$)/.test(target)
      : packages.some((name) => target === name || target.startsWith(`${name}/`))
  const operations = sources('api/operations')
  const wrong = operations
    .filter((path) => !isEntry(path))
    .flatMap((path) =>
      imports(path)
        .filter(foreign)
        .map((target) => `${path} imports ${target}`),
    )
  expect(operations.length).toBeGreaterThan(100)
  expect(wrong).toEqual([])
})

test('the composition knows neither HTTP nor the command line nor the library', () => {
  const wrong = ['host', 'embedded', 'servers', 'drives', 'live', 'config'].flatMap((name) =>
    sources(`api/process/${name}`).flatMap((path) =>
      imports(path)
        .filter((target) => /^api\/(http|cli|library|process\/owner|demo)\/|^(hono|@hono|commander)\b/.test(target))
        .map((target) => `${path} imports ${target}`),
    ),
  )
  expect(wrong).toEqual([])
})

test('the thread of an export loads neither the tables nor the kinds of streams, so it starts at once', () => {
  const loaded = [...loadedBy('api/operations/export/worker.ts')]
  expect(loaded).toContain('adapters/parquet/encoder.ts')
  expect(loaded.filter((path) => /^(projections|domain\/(?!log\/|platform\.ts))/.test(path))).toEqual([])
  expect(loaded.length).toBeLessThan(30)
})

test('the library and HTTP meet only in the operations', () => {
  const wrong = (
    [
      ['library', /^api\/http\//],
      ['http', /^api\/(library|cli|process\/owner)\//],
    ] as const
  ).flatMap(([name, not]) =>
    sources(`api/${name}`).flatMap((path) =>
      imports(path)
        .filter((target) => not.test(target))
        .map((target) => `${path} imports ${target}`),
    ),
  )
  expect(wrong).toEqual([])
})

test('the top level has only the named rooms and files', () => {
  const rooms = ['domain', 'adapters', 'projections', 'api', 'test']
  const files = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'docker-compose.yml',
    'Containerfile',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'biome.json',
    'vitest.config.ts',
  ]
  const made = (name: string) => ['node_modules', 'dist'].includes(name) || name.endsWith('.tgz')
  const found = readdirSync(root).filter((name) => !name.startsWith('.') && !made(name))
  expect(found.filter((name) => !rooms.includes(name) && !files.includes(name))).toEqual([])
})
