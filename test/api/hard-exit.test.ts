import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const keepsOn = (then: string) => {
  const module = JSON.stringify(new URL('../../api/cli/hard-exit.ts', import.meta.url).href)
  // As little patience as can be had: the time to drain is added to it.
  const source = `import { hardExit } from ${module}; const off = hardExit(-1990, 7, console.error); ${then}`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
  return [status, stderr]
}

it('ends a process that something keeps from ending', () => {
  expect(keepsOn('setInterval(() => {}, 1000)')).toEqual([7, 'what is at work does not end; ending without it\n'])
})

it('leaves alone one that has come to rest', () => {
  expect(keepsOn('off(); setTimeout(() => process.exit(0), 200)')).toEqual([0, ''])
})
