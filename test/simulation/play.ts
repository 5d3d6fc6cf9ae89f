import { Choices } from './choices.ts'
import type { Violation } from './scheduler.ts'
import { SimulatedWorld } from './world.ts'

/** What one history showed. */
export interface Played {
  readonly steps: number
  readonly crashes: number
  readonly choices: readonly number[]
  readonly story: readonly string[]
  readonly hash: string
  /** Null: every rule held. */
  readonly violation: { readonly rule: string; readonly what: string } | null
}

/** The rule that an error of the program breaks. */
export const NO_ERROR = 'the program has no error'

/** Plays the history of a seed, or of a list of choices. */
export async function play(source: number | readonly number[]): Promise<Played> {
  const choices = new Choices(source)
  const world = new SimulatedWorld(choices)
  let violation: Played['violation'] = null
  try {
    await world.play()
  } catch (error) {
    const { rule = NO_ERROR, message, stack } = error as Violation
    violation = { rule, what: 'rule' in (error as object) ? message : (stack ?? message) }
  }
  const { scheduler, crashes } = world
  const { count, story, traceHash } = scheduler
  return { steps: count, crashes, choices: choices.made, story, hash: traceHash, violation }
}
