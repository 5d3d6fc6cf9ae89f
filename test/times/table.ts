import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// npm run test:times [-- FILTER …]: runs the tests and prints the CPU and wall seconds of each file, the greatest first.

interface Line {
  readonly file: string
  readonly test?: string
  readonly cpu: number
  readonly wall: number
}

const folder = mkdtempSync(join(tmpdir(), 'keepup-times-'))
const path = join(folder, 'times.jsonl')
const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
const args = [vitest, 'run', '--config', 'test/times/vitest.config.ts', '--reporter=dot', ...process.argv.slice(2)]
const began = performance.now()
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, CPU_TIMES: path } })
const wall = (performance.now() - began) / 1000
const lines = readFileSync(path, 'utf8').trim().split('\n')
rmSync(folder, { recursive: true })
const files = lines.map((line) => JSON.parse(line) as Line).filter(({ test }) => test === undefined)
const row = (cpu: number, seconds: number, name: string) =>
  console.log(`${cpu.toFixed(1).padStart(8)} ${seconds.toFixed(1).padStart(8)}  ${name}`)
console.log(' CPU s   wall s')
for (const { file, cpu, wall } of files.sort((a, b) => b.cpu - a.cpu)) row(cpu, wall, file)
row(
  files.reduce((sum, { cpu }) => sum + cpu, 0),
  wall,
  'all (without daemons, such as PostgreSQL)',
)
process.exitCode = status ?? 1
