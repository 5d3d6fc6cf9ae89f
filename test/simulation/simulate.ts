import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Played, play } from './play.ts'

/** Every so many histories one is played twice, and both must do the same. */
const TWICE_EVERY = 50

export interface Simulated {
  readonly histories: number
  readonly steps: number
  readonly crashes: number
  readonly twice: number
  readonly seconds: number
  /** The first history that broke a rule; null: none. */
  readonly failed: { readonly seed: number; readonly played: Played } | null
}

interface Bounds {
  readonly seed: number
  /** Ends after so many steps, or seconds. */
  readonly steps?: number
  readonly seconds?: number
}

/** Plays the seeds that failed before, then seeds from `seed` on, until a bound or a broken rule. */
export async function simulate({
  seed,
  steps: most = Infinity,
  seconds: longest = Infinity,
}: Bounds): Promise<Simulated> {
  const began = performance.now()
  let [histories, steps, crashes, twice] = [0, 0, 0, 0]
  const seconds = () => (performance.now() - began) / 1_000
  const known = failedBefore()
  for (let n = 0; n < known.length || (steps < most && seconds() < longest); n++) {
    const next = known[n] ?? seed + n - known.length
    const played = await play(next)
    histories++
    steps += played.steps
    crashes += played.crashes
    let { violation } = played
    if (violation === null && histories % TWICE_EVERY === 0) {
      twice++
      const again = await play(next)
      const differs = played.story.findIndex((line, i) => again.story[i] !== line)
      if (again.hash !== played.hash)
        violation = {
          rule: 'the same seed gives the same steps',
          what: `step ${differs + 1}: "${played.story[differs]}", then "${again.story[differs]}"`,
        }
    }
    if (violation !== null)
      return {
        histories,
        steps,
        crashes,
        twice,
        seconds: seconds(),
        failed: { seed: next, played: { ...played, violation } },
      }
  }
  return { histories, steps, crashes, twice, seconds: seconds(), failed: null }
}

/** Seeds of histories that once broke a rule. */
function failedBefore(): readonly number[] {
  const lines = readFileSync(join(import.meta.dirname, 'seeds.ndjson'), 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { seed: number }).seed)
}
