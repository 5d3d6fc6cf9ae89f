import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { calledAs } from '../../../api/cli/invocation.ts'

describe('the program calls itself', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-called-')))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const [clone, elsewhere, bin] = [join(root, 'a clone'), join(root, 'project'), join(root, 'bin')]
  for (const folder of [clone, elsewhere, bin]) mkdirSync(folder)
  const [file, node] = [join(clone, 'keepup.js'), join(clone, 'node')]
  for (const path of [file, node]) writeFileSync(path, '')
  const called = (env: Record<string, string>, cwd: string) => calledAs({ env, cwd, file, node })
  const npx = { npm_command: 'exec', npm_config_local_prefix: clone }
  const byPath = `'${node}' '${file}'`

  it('by npx where npx finds it again', () => {
    expect(called(npx, clone)).toBe('npx keepup')
    expect(called(npx, join(clone, 'api'))).toBe('npx keepup')
  })

  it('never by npx where that would be another package', () => {
    expect(called(npx, elsewhere)).toBe(byPath)
    expect(called({ npm_command: 'run-script', npm_config_local_prefix: elsewhere }, elsewhere)).toBe(byPath)
    expect(called({}, clone)).toBe(byPath)
  })

  it('by its name where the PATH leads to it, by its path where the PATH leads to another', () => {
    symlinkSync(file, join(bin, 'keepup'))
    symlinkSync(node, join(bin, 'node'))
    expect(called({ PATH: `/nowhere:${bin}` }, elsewhere)).toBe('keepup')
    rmSync(join(bin, 'keepup'))
    mkdirSync(join(clone, 'bin'))
    writeFileSync(join(clone, 'bin', 'keepup'), '')
    expect(called({ PATH: `${join(clone, 'bin')}:/nowhere` }, elsewhere)).toBe('keepup')
    const strangers = join(root, 'strangers')
    mkdirSync(strangers)
    writeFileSync(join(strangers, 'keepup'), '')
    expect(called({ PATH: `${strangers}:${bin}` }, elsewhere)).toBe(`node '${file}'`)
  })
})
