import { type StdioOptions, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshFolders } from '../../support/folders.ts'

const MODULES = new URL('../../../adapters/sandbox/', import.meta.url).href

/** A program that was started with descriptors left open, and runs one command; the highest is `high`. */
function inherit(sandbox: string, high = 60) {
  const folders = freshFolders()
  onTestFinished(folders.remove)
  const { ws, data } = folders
  writeFileSync(join(data, 'token'), 'the-token')
  const script =
    `echo "$(cat /proc/self/fd/${high}/token /proc/self/fd/41 2>/dev/null)"; ` +
    'printf scribbled 2>/dev/null >> /proc/self/fd/43; ls -l /proc/self/fd'
  const command = { argv: ['/bin/sh', '-c', script], cwd: '.', timeoutMs: 60_000, network: false }
  const program = `
    import { createSandbox } from '${MODULES}bubblewrap.ts'
    import { createUnconfined } from '${MODULES}unconfined.ts'
    const { ws, data, command } = JSON.parse(process.argv[1])
    const box = ${sandbox}
    const result = await box.exec(command, new AbortController().signal).catch((error) => ({ stdout: error.message }))
    process.stdout.write(result.stdout)`
  const opened = [openSync(data, 'r'), openSync(join(data, 'token'), 'r'), openSync(join(data, 'token'), 'a')]
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', ...Array(high - 2).fill('ignore')]
  stdio[high] = opened[0]
  stdio[41] = opened[1]
  stdio[43] = opened[2]
  const args = ['--input-type=module', '-e', program, JSON.stringify({ ws, data, command })]
  const { stdout, stderr } = spawnSync(process.execPath, args, { stdio, encoding: 'utf8' })
  for (const descriptor of opened) closeSync(descriptor)
  expect(stderr).toBe('')
  return { stdout, token: readFileSync(join(data, 'token'), 'utf8'), data }
}

const unconfined = 'createUnconfined({ workspace: ws, dataFolder: data, driverId: "d" })'
const confined = 'await createSandbox({ workspace: ws, hide: [data] })'

describe.skipIf(process.platform !== 'linux')('descriptors that were left open for us', () => {
  const keeps = (sandbox: string) => {
    const { stdout, token, data } = inherit(sandbox)
    expect(stdout).toMatch(/ 60 -> \/dev\/null/)
    expect(stdout).not.toContain('the-token')
    expect(stdout).not.toContain(data)
    expect(token).toBe('the-token')
  }

  it('do not reach a confined command', { tags: ['bubblewrap'] }, () => keeps(confined))

  it('do not reach an unconfined command', () => keeps(unconfined))

  it('refuse a command where they are too high to be covered', () => {
    expect(inherit(unconfined, 16_500).stdout).toMatch(/^descriptor 16500 was open .*\(16500<&-\)$/)
  })
})
