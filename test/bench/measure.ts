import type { Took } from './floor/writer.ts'

/** The middle of some figures: one disturbed round changes nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length === 0) throw new Error('a median needs at least one figure; measure at least one round')
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Wall time, and CPU time of the whole process with all of its threads. */
export async function timed(work: () => unknown): Promise<Took> {
  const cpu = process.cpuUsage()
  const from = performance.now()
  await work()
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + system) / 1000 }
}

/** Rounds of ours and the floor, alternated, so that what disturbs the machine disturbs both. The first is warm-up. */
export async function paired(rounds: number, ours: () => unknown, floor: () => unknown): Promise<Pairs> {
  const pairs = new Pairs()
  for (let round = 0; round <= rounds; round++) {
    const [first, second] = round % 2 === 0 ? [floor, ours] : [ours, floor]
    const [a, b] = [await timed(first), await timed(second)]
    if (round > 0) pairs.add(round % 2 === 0 ? b : a, round % 2 === 0 ? a : b)
  }
  return pairs
}

/** The cost of rounds of ours and of the floor. */
export class Pairs {
  readonly ours: Took[] = []
  readonly floor: Took[] = []

  add(ours: Took, floor: Took): void {
    this.ours.push(ours)
    this.floor.push(floor)
  }

  /** The median of a measure of ours and of the floor, and of their ratio round by round. */
  of(measure: keyof Took): { ours: number; floor: number; ratio: number } {
    return {
      ours: median(this.ours.map((took) => took[measure])),
      floor: median(this.floor.map((took) => took[measure])),
      ratio: median(this.ours.map((took, i) => took[measure] / this.floor[i]![measure])),
    }
  }
}
