import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench, Case } from '../bench.ts'
import { inFreshProcess } from '../child.ts'
import { type Figure, least, megabytes, most, rate } from '../figure.ts'

// How fast "keepup verify" verifies everything, and how its memory grows with the log.

const CHILD = new URL('./verify-child.ts', import.meta.url)
const PROGRAM = fileURLToPath(new URL('../../../dist/api/cli/keepup.js', import.meta.url))

/** Runs a program as a child of Python, which reports the CPU time and the most memory of a child. */
const MEASURE = `
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({'cpuMs': 1000 * (use.ru_utime + use.ru_stime), 'bytes': 1024 * use.ru_maxrss}))
`

async function verified(bench: Bench, events: number): Promise<{ readonly cpuMs: number; readonly bytes: number }> {
  const data = join(bench.folder, `verify-${events}`)
  await inFreshProcess(CHILD, [data, String(events)])
  const command = ['-c', MEASURE, process.execPath, PROGRAM, '--data', data, 'verify']
  const { stdout } = await promisify(execFile)('python3', command)
  rmSync(data, { recursive: true })
  return JSON.parse(stdout) as { cpuMs: number; bytes: number }
}

async function figures(bench: Bench): Promise<Figure[]> {
  const [few, many] = bench.quick ? [20_000, 100_000] : [200_000, 1_000_000]
  const [small, large] = [await verified(bench, few), await verified(bench, many)]
  // The difference leaves out the start of the process.
  const speed = ((many - few) * 1000) / (large.cpuMs - small.cpuMs)
  const size = many.toLocaleString('en-US')
  return [
    {
      name: `keepup verify, ${size} events`,
      ours: rate(speed, 'ev'),
      floor: rate((few * 1000) / small.cpuMs, 'ev'),
      value: speed,
      goal: least(10_000, ' ev/s'),
      note: `per CPU second; floor: ${few.toLocaleString('en-US')} events with the start of the process`,
    },
    {
      name: `memory of keepup verify, ${size} events`,
      ours: megabytes(large.bytes),
      floor: megabytes(small.bytes),
      value: large.bytes / small.bytes,
      goal: most(1.3, ' ×'),
      note: `floor: ${few.toLocaleString('en-US')} events`,
    },
  ]
}

export const verify: Case = { name: 'verify', run: figures }
