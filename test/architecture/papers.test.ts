import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GROUPS } from '../../api/cli/commands/groups.ts'

const root = join(import.meta.dirname, '../..')
const docs = readdirSync(join(root, 'api/docs'), { recursive: true, withFileTypes: true })
  .filter((one) => one.isFile())
  .map((one) => relative(root, join(one.parentPath, one.name)))
const commands = new Set(['help', ...GROUPS.flatMap((group) => group.commands)])

describe.each(['README.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md', ...docs])('%s', (paper) => {
  it('contains no mark of an unfinished merge', () => {
    expect(readFileSync(join(root, paper), 'utf8')).not.toMatch(/^(<{7}|>{7}) /m)
  })

  const text = readFileSync(join(root, paper), 'utf8')

  it('names only existing files', () => {
    const named = [...text.matchAll(/`((?:domain|adapters|projections|api|test)\/[\w./-]*)`/g)].map(([, path]) => path!)
    const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => join(dirname(paper), path!))
    const paths = [...named, ...linked]
    if (paper === 'README.md') expect(paths.length).toBeGreaterThan(15)
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('names only existing commands', () => {
    const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join('')
    const lines = blocks.matchAll(/^(?:npx )?keepup ([a-z]+)/gm)
    const called = [...lines, ...text.matchAll(/`(?:npx )?keepup ([a-z]+)/g)].map(([, name]) => name!)
    if (paper === 'README.md') expect(called.length).toBeGreaterThan(10)
    expect(commands.size).toBeGreaterThan(20)
    expect(called.filter((name) => !commands.has(name))).toEqual([])
  })
})

it('the page about the architecture finds each component of the specification: a file that it names for one speaks of it', () => {
  const table = /\| component of the specification[^\n]*\n[^\n]*\n((?:\|.*\n)+)/.exec(
    readFileSync(join(root, 'api/docs/architecture.md'), 'utf8'),
  )![1]!
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()))
  expect(rows.length).toBeGreaterThan(14)
  const missing = rows.flatMap(([, components = '', places = '']) => {
    const paths = [...places.matchAll(/`(\w+\/[\w./-]+)`/g)].map(([, path]) => join(root, path!))
    const text = paths
      .flatMap(filesOf)
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n')
    const names = components
      .replaceAll(/\([^)]*\)/g, '')
      .split(',')
      .map((name) => name.trim())
    return paths.length === 0 ? [] : names.filter((name) => !text.includes(name))
  })
  expect(missing).toEqual([])
})

const filesOf = (path: string): string[] =>
  path.endsWith('/')
    ? readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(path, name))
    : [path]
