import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PlanFiles } from '../../adapters/files/plan-files.ts'
import { PlanPersistence } from '../../api/operations/plan/plan-persistence.ts'
import type { ReadModel } from '../../api/operations/read-model.ts'

let root: string
let outside: string
let folder: string
let files: PlanFiles
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-plans-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  outside = join(root, 'outside')
  folder = join(root, 'plans')
  mkdirSync(outside)
  files = new PlanFiles(folder)
})
const held = (name = 'a-v1.md') => readFileSync(join(folder, 'run', name), 'utf8')

describe('plan files that are attacked', () => {
  test.each(['', '.', '..', '../out', 'a/b', '/etc/x', 'a\0b', 'a\nb', 'ünï', '-rf', 'A', 'a'.repeat(122)])(
    'a file is never named %j, and neither is a folder',
    async (name) => {
      await expect(files.write('run', name, 'x')).rejects.toThrow('cannot name a plan')
      await expect(files.write(name, 'a-v1.md', 'x')).rejects.toThrow('cannot name a plan')
      expect(readdirSync(root)).toEqual(['outside'])
    },
  )

  test('a link in place of the folder of a run is not followed', async () => {
    mkdirSync(folder)
    symlinkSync(outside, join(folder, 'run'))
    await expect(files.write('run', 'a-v1.md', 'x')).rejects.toThrow('not written through links; remove it')
    expect(readdirSync(outside)).toEqual([])
  })

  test('a link in place of a file is replaced, whatever it leads to', async () => {
    mkdirSync(join(folder, 'run'), { recursive: true })
    const target = join(outside, 'target')
    writeFileSync(target, 'plan')
    symlinkSync(target, join(folder, 'run', 'a-v1.md'))
    symlinkSync(join(outside, 'missing'), join(folder, 'run', 'a-v2.md'))
    await files.write('run', 'a-v1.md', 'plan')
    await files.write('run', 'a-v2.md', 'plan')
    for (const name of ['a-v1.md', 'a-v2.md']) {
      expect(lstatSync(join(folder, 'run', name)).isFile()).toBe(true)
      expect(held(name)).toBe('plan')
    }
    writeFileSync(target, 'another')
    expect([held(), readdirSync(outside)]).toEqual(['plan', ['target']])
  })

  test('a pipe in place of a file is replaced, and not waited for', async () => {
    mkdirSync(join(folder, 'run'), { recursive: true })
    execFileSync('mkfifo', [join(folder, 'run', 'a-v1.md')])
    await files.write('run', 'a-v1.md', 'plan')
    expect(held()).toBe('plan')
  })

  test.each([
    ['of 1 MiB', 'x'.repeat(1 << 20)],
    ['of other scripts and pictures', '計画 עברית 🧭\u202e\u2028'],
    ['with control characters', 'a\u0001\u001b[2Jb\r\n\tc'],
  ])('a plan %s is kept as it is', async (_, text) => {
    await files.write('run', 'a-v1.md', text)
    expect(held() === text).toBe(true)
    expect(readdirSync(join(folder, 'run'))).toEqual(['a-v1.md'])
  })

  test('where nothing can be written the plan is shown without a file, and why is told', async () => {
    writeFileSync(folder, 'a file in the way')
    const artifact = { id: 'p', type: 'plan', title: 'Plan', content: 'Do it.' }
    const row = { artifact, agentId: 'run', createdAt: '2026-01-01T00:00:00.000Z', registeredWith: null }
    const read = {
      caughtUp: async () => {},
      artifacts: async () => ({ position: '', value: { artifacts: [row], next: null } }),
    } as unknown as ReadModel
    const told = vi.fn()
    const plans = new PlanPersistence(read, files, (runId, error) => told(runId, (error as Error).message))
    expect(await plans.keep('run')).toMatchObject([{ title: 'Plan', content: 'Do it.', file: null }])
    await plans.empty('run')
    row.artifact = { ...row.artifact, content: null as never }
    await expect(plans.empty('run')).rejects.toThrow('run-v1.md could not be emptied')
    expect(told).toHaveBeenCalledWith('run', expect.stringMatching(/^the plan run-v1\.md is not kept as a file: E/))
  })
})
