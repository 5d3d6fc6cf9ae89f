import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { temporaryFolder } from '../../adapters/files/temporary.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-temporary-test-')))
  vi.stubEnv('TMPDIR', root)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

const MODULE = new URL('../../adapters/files/temporary.ts', import.meta.url).href
/** Makes a temporary folder in another process with an optional wrapper, and prints the names in the system's folder. */
const elsewhere = (then: string, wrap: readonly string[] = []) => {
  const program = `const { temporaryFolder } = await import('${MODULE}'); const one = temporaryFolder('x'); ${then}`
  const [file, ...args] = [...wrap, process.execPath, '--input-type=module', '-e', program]
  return spawnSync(file!, args, { env: { ...process.env, TMPDIR: root }, encoding: 'utf8' })
}

test('the folder is private, and its removal leaves nothing', () => {
  const { path, remove } = temporaryFolder('x')
  writeFileSync(join(path, 'text'), 'text')
  expect(readdirSync(path)).toEqual(['text'])
  remove()
  remove()
  expect(readdirSync(root)).toEqual([])
})

test('two folders of one process live side by side', () => {
  const [one, two] = [temporaryFolder('x'), temporaryFolder('x')]
  expect([one, two].map(({ path }) => existsSync(path))).toEqual([true, true])
  one.remove()
  expect(existsSync(two.path)).toBe(true)
  two.remove()
})

test('the folder of a killed process is removed by the next call with its name', () => {
  expect(elsewhere("process.kill(process.pid, 'SIGKILL')").signal).toBe('SIGKILL')
  expect(readdirSync(root)).toHaveLength(1)
  const other = temporaryFolder('y')
  expect(readdirSync(root)).toHaveLength(2)
  other.remove()
  temporaryFolder('x').remove()
  expect(readdirSync(root)).toEqual([])
})

test('a folder without its lock was left by a process that was killed while it made it', () => {
  mkdirSync(join(root, 'keepup-x-half'), { mode: 0o700 })
  temporaryFolder('x').remove()
  expect(readdirSync(root)).toEqual([])
})

test('entries that this user did not make stay there, and their locks are not opened', () => {
  const victim = join(root, 'victim')
  writeFileSync(victim, 'text', { mode: 0o644 })
  mkdirSync(join(root, 'keepup-x-open'), { mode: 0o755 })
  mkdirSync(join(root, 'keepup-x-linked'), { mode: 0o700 })
  symlinkSync(victim, join(root, 'keepup-x-linked', 'lock'))
  symlinkSync(join(root, 'keepup-x-open'), join(root, 'keepup-x-link'))
  writeFileSync(join(root, 'keepup-x-file'), '')
  const before = readdirSync(root)
  temporaryFolder('x').remove()
  expect(readdirSync(root)).toEqual(before)
  expect(readFileSync(victim, 'utf8')).toBe('text')
  expect(statSync(victim).mode & 0o777).toBe(0o644)
})

test('a leftover that cannot be removed prevents no new folder', () => {
  mkdirSync(join(root, 'keepup-x-half'), { mode: 0o700 })
  // The name for the removal is taken.
  mkdirSync(join(root, 'keepup-x-half.removed', 'content'), { recursive: true })
  const { path, remove } = temporaryFolder('x')
  expect(existsSync(path)).toBe(true)
  remove()
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s removes the folder and ends the process', (signal) => {
  const ended = elsewhere(
    `process.kill(process.pid, '${signal}'); await new Promise((done) => setTimeout(done, 60_000))`,
  )
  expect({ signal: ended.signal, left: readdirSync(root) }).toEqual({ signal, left: [] })
})

test('a process with other process ids and the same temporary folder keeps a folder in use', {
  tags: ['bubblewrap'],
}, () => {
  const { path, remove } = temporaryFolder('x')
  const show = "process.stdout.write(String((await import('node:fs')).readdirSync(process.env.TMPDIR).length))"
  const sandbox = ['bwrap', '--dev-bind', '/', '/', '--unshare-pid', '--proc', '/proc', '--die-with-parent']
  const { stdout, stderr, status } = elsewhere(show, sandbox)
  expect({ stdout, stderr, status }).toEqual({ stdout: '2', stderr: '', status: 0 })
  expect(existsSync(path)).toBe(true)
  remove()
})
