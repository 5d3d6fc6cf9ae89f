/** The seed of sampled faults. Random if not set, and part of every failure message. */
export const FAULT_SEED = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Tests all points instead of a sample. */
export const FAULT_ALL = process.env.FAULT_ALL === '1'

/**
 * The limit of one test with real processes. Some need ten seconds of CPU time, and a busy machine gives only a part of
 * it.
 */
export const FAULT_TIMEOUT_MS = FAULT_ALL ? 3_600_000 : 300_000

/** Random numbers from 0 to below `below` (mulberry32). */
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

/** All items with FAULT_ALL; else `count` random items and those selected by `always`, in order. */
export function sampleOf<T>(items: readonly T[], count: number, always: (item: T) => boolean = () => false): T[] {
  if (FAULT_ALL) return [...items]
  const chosen = new Set(sample(draws(FAULT_SEED), count, items.length))
  return items.filter((item, i) => always(item) || chosen.has(i + 1))
}

/** For the name of a group of sampled tests. */
export const SAMPLED = FAULT_ALL ? 'all' : `sampled, FAULT_SEED=${FAULT_SEED}`

/** Runs `work` on every item, several at once. A failure names the item and the seed. */
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
