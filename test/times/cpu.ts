import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, afterEach, beforeEach, expect } from 'vitest'

// A set-up file that vitest loads before each test file: it writes one line of JSON per test and per file with the CPU seconds
// that they took, into the file that CPU_TIMES names.

const TICKS_PER_SECOND = 100

/** CPU seconds of this process and of its children that have ended. A daemon is not in it. */
function seconds(): number {
  const { user, system } = process.cpuUsage()
  const [, stat = ''] = /\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
  const fields = stat.split(' ')
  return (user + system) / 1e6 + (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
}

const file = () => relative(process.cwd(), expect.getState().testPath ?? '')
const write = (line: object) => appendFileSync(process.env.CPU_TIMES!, `${JSON.stringify(line)}\n`)

const [begun, startedAt] = [seconds(), performance.now()]
let [before, at] = [0, 0]
beforeEach(() => {
  ;[before, at] = [seconds(), performance.now()]
})
afterEach(({ task }) => {
  write({ file: file(), test: task.name, cpu: seconds() - before, wall: (performance.now() - at) / 1000 })
})
afterAll(() => {
  write({ file: file(), cpu: seconds() - begun, wall: (performance.now() - startedAt) / 1000 })
})
