import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Case } from '../bench.ts'
import { type Figure, megabytes, micros, most, ms } from '../figure.ts'
import { runBesideFloor, type Stretch } from '../long-run.ts'
import { median } from '../measure.ts'

// A durable turn of the embedded default against a bare writer of the same rows in the same commits.

type Paired = Stretch & { readonly floor: NonNullable<Stretch['floor']> }

const isPaired = (stretch: Stretch): stretch is Paired => stretch.floor !== null
const between = (stretches: readonly Stretch[], from: number, to: number) =>
  stretches.filter((one) => one.to > from && one.to <= to)
const cpuPerEvent = (stretches: readonly Stretch[]) => median(stretches.map((s) => (s.ours.cpuMs * 1000) / s.events))

function wall(name: string, stretches: readonly Paired[]): Figure {
  const ratio = median(stretches.map(({ ours, floor }) => ours.ms / floor.ms))
  return {
    name: `durable turn, ${name}`,
    ours: ms(median(stretches.map(({ ours, turns }) => ours.ms / turns))),
    floor: ms(median(stretches.map(({ floor, turns }) => floor.ms / turns))),
    value: ratio,
    goal: most(2, ' ×'),
  }
}

function cpu(name: string, stretches: readonly Paired[]): Figure {
  return {
    name: `CPU of a durable turn, all threads, ${name}`,
    ours: ms(median(stretches.map(({ ours, turns }) => ours.cpuMs / turns))),
    floor: ms(median(stretches.map(({ floor, turns }) => floor.cpuMs / turns))),
    value: median(stretches.map(({ ours, floor }) => ours.cpuMs / floor.cpuMs)),
    goal: most(8, ' ×'),
  }
}

function growth(name: string, early: readonly Stretch[], late: readonly Stretch[]): Figure {
  const [before, after] = [cpuPerEvent(early), cpuPerEvent(late)]
  return {
    name: `growth of CPU per event, ${name}`,
    ours: micros(after),
    floor: micros(before),
    value: after / before,
    goal: most(1.1, ' ×'),
    note: 'floor: early turns',
  }
}

export const turns: Case = {
  name: 'turns',
  async run(bench: Bench) {
    const short: Stretch[] = []
    for (let round = 0; round <= (bench.quick ? 3 : 7); round++) {
      const data = join(bench.folder, `short-${round}`)
      const run = await runBesideFloor(data, { turns: 100 })
      if (round > 0) short.push(...run.stretches)
      rmSync(data, { recursive: true })
    }
    const { stretches } = await bench.long()
    const all = stretches.filter(isPaired)
    const figures = [
      wall(
        'first 10',
        short.filter(isPaired).filter((one) => one.to === 10),
      ),
      wall(
        'at 100',
        short.filter(isPaired).filter((one) => one.to === 100),
      ),
      wall('at 1,000', between(all, 500, 1_000).filter(isPaired)),
    ]
    const early = between(all, 500, 1_000).filter(isPaired)
    figures.push(cpu('at 1,000 turns', early))
    if (bench.quick) return figures
    const late = between(all, 4_500, 5_000).filter(isPaired)
    const last = between(stretches, 13_800, 14_300)
    return [
      ...figures.slice(0, 3),
      wall('at 5,000', late),
      ...figures.slice(3),
      cpu('at 5,000 turns', late),
      growth('1,000 → 5,000 turns', early, late),
      growth('7,000 → 100,000 events', early, last),
      memory(stretches),
    ]
  },
}

function memory(stretches: readonly Stretch[]): Figure {
  const [half, end] = [stretches.find(({ to }) => to === 7_200)!, stretches.at(-1)!]
  return {
    name: 'resident memory, 100,000 events',
    ours: megabytes(end.rss),
    floor: megabytes(half.rss),
    value: end.rss / half.rss,
    goal: most(2, ' ×'),
    note: 'floor: at half of the run',
  }
}
