/** Repeats a run of sampled faults. Drawn where it is not set, and said with every failure. */
export const FAULT_SEED = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** All points instead of a sample. */
export const FAULT_ALL = process.env.FAULT_ALL === '1'

/** Of one test with real processes: some need ten seconds of a processor, of which a busy machine gives them a part. */
export const FAULT_TIMEOUT_MS = FAULT_ALL ? 3_600_000 : 300_000

/** Numbers from 0 to below `below` (mulberry32). */
export function draws(seed: number): (below: number) => number {
  let a = seed >>> 0
  return (below) => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), a | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** `count` different numbers from 1 to `last`, in order. */
export function sample(draw: (below: number) => number, count: number, last: number): number[] {
  const chosen = new Set<number>()
  while (chosen.size < Math.min(count, last)) chosen.add(1 + draw(last))
  return [...chosen].sort((a, b) => a - b)
}

/** All of them in a campaign; otherwise `count` that FAULT_SEED draws, and those that `always` names, in order. */
export function sampleOf<T>(items: readonly T[], count: number, always: (item: T) => boolean = () => false): T[] {
  if (FAULT_ALL) return [...items]
  const chosen = new Set(sample(draws(FAULT_SEED), count, items.length))
  return items.filter((item, i) => always(item) || chosen.has(i + 1))
}

/** For the name of a group of sampled tests. */
export const SAMPLED = FAULT_ALL ? 'all' : `sampled, FAULT_SEED=${FAULT_SEED}`

/** Runs `work` on every item, a few at once. A failure names the item and the seed. */
export async function each<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const failures: Error[] = []
  const one = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      try {
        await work(item)
      } catch (error) {
        const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
        failures.push(new Error(`at ${JSON.stringify(item)} (FAULT_SEED=${FAULT_SEED}): ${why}`))
        if (!FAULT_ALL) left.length = 0
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  if (failures.length > 0) throw new Error(failures.map((failure) => failure.message).join('\n\n'))
}
