import { readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { circles, imports, read, root, sources } from './import-graph.ts'

// The house has rooms, and doors between them only where DESIGN put them.

const room = (path: string) => path.split('/')[0]!
const isPure = (path: string) => path.startsWith('domain/') && !path.startsWith('domain/runtime/')
const PACKAGES = new Set(['zod', 'canonicalize', 'node:crypto'])
/** Packages that one pure room alone may import. */
const OF_ROOM: Readonly<Record<string, readonly string[]>> = { 'domain/agent/secrets': ['re2js'] }
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

test('pure rooms import zod, hashing, canonical JSON and each other, never the runtime', () => {
  const wrong = sources('domain')
    .filter(isPure)
    .flatMap((path) =>
      imports(path)
        .filter((target) => (inHouse(target) ? target.startsWith('domain/runtime') : !mayImport(path, target)))
        .map((target) => `${path} imports ${target}`),
    )
  expect(wrong).toEqual([])
})

test('streams and erasures know no kind of stream: neither agents, nor documents, nor how they are driven', () => {
  const rooms = ['domain/log', 'domain/stream', 'domain/runtime/stream', 'domain/runtime/erasure']
  const ofAKind = /^domain\/(agent|document|external|context|runtime\/(agent|external|document|context|aggregates))\b/
  const wrong = rooms.flatMap(sources).flatMap((path) =>
    imports(path)
      .filter((target) => ofAKind.test(target))
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
  const named = rooms.flatMap(sources).filter((path) => /\bagentStream\b|'agent-/.test(read(path)))
  expect(named).toEqual(['domain/log/ids.ts'])
})

test('ports and agent do not import each other; ports import the log, the pure rooms and what all rooms share', () => {
  const mayBe = [
    ...['domain/log/', 'domain/shared/', 'domain/document/', 'domain/external/', 'domain/spawn/', 'domain/memory/'],
    'domain/ports/',
  ]
  const ofPorts = ['domain/ports.ts', ...sources('domain/ports')].flatMap((path) =>
    imports(path)
      .filter((target) => !mayBe.some((start) => target.startsWith(start)))
      .map((target) => `${path} imports ${target}`),
  )
  const ofAgent = sources('domain/agent').flatMap((path) =>
    imports(path)
      .filter((target) => target.startsWith('domain/ports'))
      .map((target) => `${path} imports ${target}`),
  )
  expect([...ofPorts, ...ofAgent]).toEqual([])
})

test('spawn-and-wait knows neither how agents are driven nor how their runs are recorded', () => {
  const wrong = ['domain/spawn', 'domain/runtime/spawn'].flatMap(sources).flatMap((path) =>
    imports(path)
      .filter((target) => /^domain\/(external|stream|runtime\/(agent|external|stream|courier))\b/.test(target))
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('what all rooms of domain share imports the log and nothing else of them', () => {
  const wrong = sources('domain/shared').flatMap((path) =>
    imports(path)
      .filter((target) => inHouse(target) && !/^domain\/(shared|log)\//.test(target))
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('within an agent decisions import rules, rules the state, the state events, events the definition', () => {
  const floors = ['', 'definition', 'events', 'state', 'control', 'secrets', 'rules', 'decisions']
  const floor = (path: string) => floors.indexOf(dirname(relative('domain/agent', path)).replace(/^\.$/, ''))
  const wrong = sources('domain/agent').flatMap((path) =>
    imports(path)
      .filter((target) => target.startsWith('domain/agent/') && !(floor(target) <= floor(path) && floor(target) >= 0))
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('within a document the stream imports the envelope, which imports the markup, and all import the model', () => {
  const floors = ['', 'model', 'markup', 'envelope', 'stream']
  const floor = (path: string) => floors.indexOf(dirname(relative('domain/document', path)).replace(/^\.$/, ''))
  const wrong = sources('domain/document').flatMap((path) =>
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
    'loro-crdt': 'adapters/documents-loro/',
    saxes: 'adapters/documents-xml/',
  }
  const found = Object.keys(allowed)
    .flatMap(sources)
    .flatMap((path) =>
      imports(path).flatMap((name) => (owners[name] === undefined ? [] : [[path, owners[name]] as const])),
    )
  expect(found.length).toBeGreaterThan(1)
  expect(found.filter(([path, owner]) => !path.startsWith(owner)).map(([path]) => path)).toEqual([])
})

test('the runtime imports no package', () => {
  const wrong = sources('domain/runtime').flatMap((path) => imports(path).filter((target) => !inHouse(target)))
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
  const calendar = 'domain/shared/instant.ts'
  expect(read(calendar)).not.toMatch(/\bDate\.now\b|new Date\(\)|Date\(\)/)
  const wrong = sources('domain')
    .filter((path) => isPure(path) && !path.startsWith('domain/ports') && path !== calendar)
    .flatMap((path) => {
      const code = read(path).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      return forbidden.filter((pattern) => pattern.test(code)).map((pattern) => `${path}: ${pattern}`)
    })
  expect(wrong).toEqual([])
})

test('within api the application knows no entry point, no HTTP and no command line', () => {
  const packages = ['hono', '@hono', 'commander', '@clack', 'node:http', 'node:net']
  const foreign = (target: string) =>
    target.startsWith('api/')
      ? !target.startsWith('api/app/') && target !== 'api/version.ts'
      : packages.some((name) => target === name || target.startsWith(`${name}/`))
  const wrong = sources('api/app').flatMap((path) =>
    imports(path)
      .filter(foreign)
      .map((target) => `${path} imports ${target}`),
  )
  expect(sources('api/app').length).toBeGreaterThan(30)
  expect(wrong).toEqual([])
})

test('within api the places that keep data know neither HTTP nor the command line nor the library', () => {
  const wrong = ['host', 'embedded', 'servers'].flatMap((name) =>
    sources(`api/${name}`).flatMap((path) =>
      imports(path)
        .filter((target) => /^api\/(http|cli|library|owner|demo)\/|^(hono|@hono|commander)\b/.test(target))
        .map((target) => `${path} imports ${target}`),
    ),
  )
  expect(wrong).toEqual([])
})

test('the library and HTTP meet only in the application', () => {
  const wrong = (
    [
      ['library', /^api\/http\//],
      ['http', /^api\/(library|cli|owner)\//],
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

test('no two neighbouring rooms of api have a file of the same name', () => {
  const roomsOf = (dir: string): string[] =>
    readdirSync(join(root, dir), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(dir, entry.name))
  const names = (dir: string) => readdirSync(join(root, dir)).filter((name) => name.endsWith('.ts'))
  const clashes = roomsOf('api')
    .filter((dir) => !['api/demo', 'api/docs'].includes(dir))
    .flatMap((dir) => names(dir).map((name) => [name, dir] as const))
  const seen = Map.groupBy(clashes, ([name]) => name)
  expect([...seen].filter(([, all]) => all.length > 1).map(([name, all]) => [name, all.map(([, dir]) => dir)])).toEqual(
    [],
  )
})

test('the top level has only the named rooms and files', () => {
  const rooms = ['domain', 'adapters', 'projections', 'api', 'test']
  const files = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'docker-compose.yml',
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

/** Files of tests from before the rule. None may join them, and each leaves the list when it is short enough. */
const LONG_TESTS = ['test/support/tree/world.ts']

test('no file is longer than 300 lines', () => {
  const long = [...Object.keys(allowed), 'test'].flatMap(sources).filter((path) => read(path).split('\n').length > 301)
  expect(long.sort()).toEqual(LONG_TESTS)
})
