import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Case } from '../bench.ts'
import { type Figure, megabytes, micros, most, number } from '../figure.ts'
import { type LongRun, runBesideFloor, type Stretch } from '../long-run.ts'
import { median } from '../measure.ts'

// Whether anything grows faster than the run itself: ratios within one process, which a slow or busy machine does not change.

const TURNS = 1_000
const [SHORT, MIDDLE] = [100, 550]

const between = ({ stretches }: LongRun, from: number, to: number): readonly Stretch[] =>
  stretches.filter((one) => one.to > from && one.to <= to)

const cpuPerEvent = (stretches: readonly Stretch[]) => median(stretches.map((s) => (s.ours.cpuMs * 1_000) / s.events))
/** What the bare writer took for the same rows at the same time: what else the machine did slowed both. */
const besideFloor = (stretches: readonly Stretch[]) =>
  median(stretches.flatMap(({ ours, floor }) => (floor === null ? [] : [ours.cpuMs / floor.cpuMs])))

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

async function bytesOf(bench: Bench, turns: number): Promise<number> {
  const data = join(bench.folder, `growth-${turns}`)
  await runBesideFloor(data, { turns, pairedUpTo: 0 })
  const bytes = bytesIn(data)
  rmSync(data, { recursive: true })
  return bytes
}

async function growth(bench: Bench): Promise<Figure[]> {
  const short = await bytesOf(bench, SHORT)
  const middle = await bytesOf(bench, MIDDLE)
  const data = join(bench.folder, 'growth')
  const run = await runBesideFloor(data, { turns: TURNS })
  const whole = bytesIn(data)
  const [early, late] = [between(run, SHORT, 400), between(run, 700, TURNS)]
  const [before, after] = [(middle - short) / (MIDDLE - SHORT), (whole - middle) / (TURNS - MIDDLE)]
  const rss = (stretches: readonly Stretch[]) => median(stretches.map((one) => one.rss))
  const line = (name: string, ours: string, floor: string, value: number, bound: number): Figure => ({
    ...{ name, ours, floor, value, goal: most(bound, ' ×'), note: 'floor: early turns' },
  })
  return [
    line(
      'growth of CPU per event, 100 → 1,000 turns',
      micros(cpuPerEvent(late)),
      micros(cpuPerEvent(early)),
      besideFloor(late) / besideFloor(early),
      1.5,
    ),
    line('growth of bytes a turn, 100 → 1,000 turns', `${number(after)} B`, `${number(before)} B`, after / before, 1.1),
    line('growth of memory, 100 → 1,000 turns', megabytes(rss(late)), megabytes(rss(early)), rss(late) / rss(early), 2),
  ]
}

export const growing: Case = { name: 'growth', run: growth }
