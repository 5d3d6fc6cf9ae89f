// @module-tag git
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { searchFiles } from '../../../adapters/workspace/search.ts'
import { openShadowRepository } from '../../../adapters/workspace/shadow-repository.ts'
import type { SearchQuery, Workspace } from '../../../domain/ports/index.ts'
import { freshFolders } from '../../support/folders.ts'
import { turnsDuring } from '../../support/time/event-loop.ts'

let folders: ReturnType<typeof freshFolders>
let ws: Workspace
const never = new AbortController().signal
const query = (pattern: string, more: Partial<SearchQuery> = {}): SearchQuery => ({
  pattern,
  regex: false,
  path: '.',
  caseSensitive: true,
  limit: 100,
  ...more,
})
const put = (path: string, data: string | Buffer) => {
  mkdirSync(join(folders.ws, path, '..'), { recursive: true })
  writeFileSync(join(folders.ws, path), data)
}
const found = async (q: SearchQuery) => (await ws.search(q, never)).matches.map((m) => `${m.path}:${m.line}:${m.text}`)

beforeEach(async () => {
  folders = freshFolders()
  ws = await openWorkspace(folders.ws, { dataFolder: folders.data })
})
afterEach(() => folders.remove())

describe('search', () => {
  it('finds lines in path order, ignored files, binaries, links and .git aside', async () => {
    execFileSync('git', ['init', '-q', folders.ws])
    put('.gitignore', 'dist\n')
    put('b.ts', 'one\r\nneedle two\r\n')
    put('a/z.ts', 'needle')
    put('a.ts', 'x\nneedle\nneedle again')
    put('dist/x.ts', 'needle')
    put('node_modules/m/x.ts', 'needle')
    put('.git/x.ts', 'needle')
    put('bin', Buffer.from('needle\0'))
    mkdirSync(join(folders.base, 'out'))
    writeFileSync(join(folders.base, 'out/f'), 'needle')
    symlinkSync('../out', join(folders.ws, 'out'))
    symlinkSync('../out/f', join(folders.ws, 'f'))
    expect(await found(query('needle'))).toEqual([
      'a.ts:2:needle',
      'a.ts:3:needle again',
      'a/z.ts:1:needle',
      'b.ts:2:needle two',
    ])
    expect(await found(query('needle', { path: 'a' }))).toEqual(['a/z.ts:1:needle'])
    expect(await found(query('NEEDLE', { caseSensitive: false, glob: 'a/**' }))).toEqual(['a/z.ts:1:needle'])
    expect(await found(query('^n.*o', { regex: true, glob: '*.ts' }))).toEqual(['b.ts:2:needle two'])
    expect(await found(query('n.*o'))).toEqual([])
  })

  it('is bounded, and says so', async () => {
    put('f', 'x\n'.repeat(500))
    put('long', `${'a'.repeat(1_000_000)}needle${'b'.repeat(1_000_000)}`)
    expect(await ws.search(query('x', { limit: 7 }), never)).toMatchObject({ truncated: true, matches: { length: 7 } })
    const [line] = (await ws.search(query('needle'), never)).matches
    expect(line?.text).toContain('needle')
    expect(line?.text.length).toBeLessThan(3_000)
  })

  it('gives up a catastrophic pattern', async () => {
    put('f', 'a'.repeat(60))
    const place = await openShadowRepository(folders.data, folders.ws)
    await expect(searchFiles(place, '', query('^(a|aa)+b', { regex: true }), never, 300)).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
  })

  it('gives up a catastrophic glob, and leaves the event loop to others meanwhile', async () => {
    put('a'.repeat(200), 'x')
    const place = await openShadowRepository(folders.data, folders.ws)
    const search = searchFiles(place, '', query('x', { glob: `${'*a'.repeat(30)}b` }), never, 300)
    const turns = turnsDuring(search.catch(() => undefined))
    await expect(search).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(await turns).toBeGreaterThan(3)
  })

  it('refuses a bad pattern, a bad path and a cancelled search', async () => {
    await expect(ws.search(query('(', { regex: true }), never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
    await expect(ws.search(query(''), never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
    await expect(ws.search(query('x', { path: '../x' }), never)).rejects.toMatchObject({ code: 'SANDBOX_VIOLATION' })
    await expect(ws.search(query('x', { path: 'none' }), never)).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    await expect(ws.search(query('x'), AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
  })
})
