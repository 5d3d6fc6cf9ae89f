import { execFile } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bench, Case } from '../bench.ts'
import { inFreshProcess } from '../child.ts'
import { type Figure, least, megabytes, most, rate } from '../figure.ts'
import { median } from '../measure.ts'

// How fast packs are written and verified, by keepup and by verify.py, and how their memory grows with the log.

const CHILD = new URL('./packs-child.ts', import.meta.url)
const VERIFIER = new URL('../../../api/docs/verify.py', import.meta.url)
const FEW = 20_000
const MANY = 200_000

interface Step {
  readonly cpuMs: number
  readonly bytes: number
}

/** Runs a program as a child of Python, which reports the CPU time and the most memory of a child. */
const MEASURE = `
import json, resource, subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({'cpuMs': 1000 * (use.ru_utime + use.ru_stime), 'bytes': 1024 * use.ru_maxrss}))
`

async function python(pack: string): Promise<Step> {
  const { stdout } = await promisify(execFile)('python3', ['-c', MEASURE, VERIFIER.pathname, pack])
  return JSON.parse(stdout) as Step
}

async function figures(bench: Bench): Promise<Figure[]> {
  const rounds = bench.quick ? 1 : 3
  const data = (events: number) => join(bench.folder, `packs-${events}`)
  const file = join(bench.folder, 'bench.pack')
  for (const events of [FEW, MANY]) await inFreshProcess(CHILD, ['log', data(events), '', String(events)])
  const measured = new Map<string, Step>()
  for (const events of [FEW, MANY]) {
    const step = (name: string) => inFreshProcess<Step>(CHILD, [name, data(events), file])
    const took = new Map<string, Step[]>()
    for (let round = 0; round < rounds; round++)
      for (const name of ['proved', 'whole', 'check', 'floor', 'verify.py']) {
        const one = name === 'verify.py' ? await python(file) : await step(name)
        took.set(name, [...(took.get(name) ?? []), one])
      }
    for (const [name, all] of took)
      measured.set(`${name} ${events}`, {
        cpuMs: median(all.map(({ cpuMs }) => cpuMs)),
        bytes: median(all.map(({ bytes }) => bytes)),
      })
  }
  const size = statSync(file).size
  rmSync(file)
  const of = (name: string, events: number) => measured.get(`${name} ${events}`)!
  // The difference of both sizes leaves out the start of the process.
  const speed = (name: string) => ((MANY - FEW) * 1000) / (of(name, MANY).cpuMs - of(name, FEW).cpuMs)
  const figure = (name: string, what: string, goal: number): Figure[] => [
    {
      name: what,
      ours: rate(speed(name), 'ev'),
      floor: rate(speed('floor'), 'ev'),
      value: speed(name),
      goal: least(goal, ' ev/s'),
      note: `per CPU second; floor: reading and hashing the pack, ${megabytes(size)}`,
    },
    {
      name: `memory: ${what}, ${MANY.toLocaleString('en-US')} events`,
      ours: megabytes(of(name, MANY).bytes),
      floor: megabytes(of(name, FEW).bytes),
      value: of(name, MANY).bytes / of(name, FEW).bytes,
      goal: name === 'verify.py' ? null : most(1.25, ' ×'),
      note: `floor: ${FEW.toLocaleString('en-US')} events`,
    },
  ]
  return [
    ...figure('whole', 'pack of the whole log', 50_000),
    ...figure('proved', 'pack of events by time', 50_000),
    ...figure('check', 'pack --check', 50_000),
    ...figure('verify.py', 'verify.py of a pack', 20_000),
  ]
}

export const packs: Case = { name: 'packs', run: figures }
