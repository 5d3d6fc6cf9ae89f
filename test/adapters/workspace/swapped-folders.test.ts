// @module-tag git
import { type ChildProcess, spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkout } from '../../../adapters/workspace/checkout.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { worktreeReader } from '../../../adapters/workspace/worktree.ts'

// A process with the workspace swaps a folder for a link to a folder outside while keepup walks the workspace.

let base: string
let ws: string
let outside: string
let swapper: ChildProcess | null = null

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-swap-')))
  ws = join(base, 'ws')
  outside = join(base, 'outside')
  for (const folder of [join(ws, 'a/b'), join(outside, 'b')]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(ws, 'a/b/f'), 'inside')
  writeFileSync(join(outside, 'b/f'), 'token of the data folder')
})
afterEach(async () => {
  if (swapper !== null) {
    const ended = new Promise((resolve) => swapper!.on('exit', resolve))
    swapper.kill('SIGKILL')
    await ended
    swapper = null
  }
  rmSync(base, { recursive: true, force: true })
})

const file = (text: string) => ({ mode: '100644', bytes: Buffer.from(text) }) as const
const swap = () => {
  renameSync(join(ws, 'a'), join(ws, 'moved'))
  symlinkSync(outside, join(ws, 'a'))
}

/** Swaps `a` for a link to the outside and back, without a rest. */
function keepSwapping(): void {
  symlinkSync(outside, join(ws, 'link'))
  const code = `import { renameSync } from 'node:fs'
    const move = (from, to) => { try { renameSync(from, to) } catch {} }
    for (;;) { move('a', 'x'); move('link', 'a'); move('a', 'link'); move('x', 'a') }`
  swapper = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: ws, stdio: 'ignore' })
}

test('a reader of versions that has opened a folder reads on in that folder', async () => {
  const reader = worktreeReader(ws)
  expect((await reader.read('a/b/f')) as object).toMatchObject({ bytes: Buffer.from('inside') })
  swap()
  expect((await reader.read('a/b/f')) as object).toMatchObject({ bytes: Buffer.from('inside') })
  reader.close()
  const later = worktreeReader(ws)
  expect(await later.read('a/b/f')).toBeNull()
  later.close()
})

test('a restore writes, looks and removes in no folder that a link has replaced', async () => {
  const folder = checkout(ws)
  await folder.write('a/b/g', file('new'))
  swap()
  await expect(folder.write('a/b/h', file('new'))).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(folder.free('a/b/f', () => true)).resolves.toBeUndefined()
  await expect(folder.free('a/b/f', () => false)).rejects.toMatchObject({ code: 'CONFLICT' })
  await folder.remove('a/b/f')
  expect(readdirSync(join(outside, 'b'))).toEqual(['f'])
})

const NAMES = Array.from({ length: 60 }, (_, i) => `f${i}`)

test('neither versions nor a search show a file from outside while a folder is swapped without a rest', async () => {
  const workspace = await openWorkspace(ws, { dataFolder: join(base, 'data') })
  for (const name of NAMES) writeFileSync(join(outside, 'b', name), 'token of the data folder')
  const real = openSync(join(ws, 'a/b'), constants.O_RDONLY | constants.O_DIRECTORY)
  const query = { pattern: 'token', regex: false, caseSensitive: true, limit: 10, path: '' }
  const { versions } = workspace
  const found: unknown[] = []
  let before = await versions.snapshot()
  keepSwapping()
  for (let i = 0; i < 12; i++) {
    for (const name of NAMES) writeFileSync(`/proc/self/fd/${real}/${name}`, `inside ${i}`)
    // A snapshot may fail while its folder is moved away.
    const tree = await versions.snapshot().catch(() => before)
    if ((await versions.diff(before, tree, 2 ** 20)).includes('token')) found.push(tree)
    before = tree
    const { matches } = await workspace.search(query, AbortSignal.timeout(60_000)).catch(() => ({ matches: [] }))
    found.push(...matches)
  }
  closeSync(real)
  expect(found).toEqual([])
})

test('a restore changes nothing outside while a folder is swapped without a rest', async () => {
  const workspace = await openWorkspace(ws, { dataFolder: join(base, 'data') })
  writeFileSync(join(ws, 'a/b/g'), 'second')
  const second = await workspace.versions.snapshot()
  rmSync(join(ws, 'a/b/g'))
  const first = await workspace.versions.snapshot()
  keepSwapping()
  for (let i = 0; i < 15; i++) await workspace.versions.restore(i % 2 ? first : second).catch(() => undefined)
  expect(readFileSync(join(outside, 'b/f'), 'utf8')).toBe('token of the data folder')
  expect(existsSync(join(outside, 'b/g'))).toBe(false)
  expect(readdirSync(outside)).toEqual(['b'])
})
