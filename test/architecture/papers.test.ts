import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inProcess } from '../api/cli-support.ts'

const root = join(import.meta.dirname, '../..')
const docs = readdirSync(join(root, 'api/docs')).map((name) => `api/docs/${name}`)
const { out: help } = await inProcess(['--help'])
const commands = new Set([...help.matchAll(/^ {2}([a-z]+) .*/gm)].map(([, name]) => name))

describe.each(['README.md', ...docs])('%s', (paper) => {
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
