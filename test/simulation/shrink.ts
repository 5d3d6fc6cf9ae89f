import { NO_ERROR, type Played, play } from './play.ts'

/** The longest search for a shorter history, in ms. */
const LIMIT_MS = 30_000

export interface Shrunk {
  readonly played: Played
  readonly choices: readonly number[]
  /** The choices that are not ordinary: they are what matters. */
  readonly unusual: number
}

/**
 * Looks for a shorter list of choices that breaks the same rule: makes choices ordinary and drops them, from large parts
 * of the list to single ones.
 */
export async function shrink(first: Played, limitMs = LIMIT_MS): Promise<Shrunk> {
  const until = performance.now() + limitMs
  let best = first
  let choices = first.choices
  const better = async (candidate: readonly number[]): Promise<boolean> => {
    if (performance.now() > until) return false
    const tried = await play(candidate)
    if (!isSame(tried, first)) return false
    best = tried
    choices = withoutEnd(tried.choices.slice(0, candidate.length))
    return true
  }
  await better(withoutEnd(choices))
  const passes = [
    (list: readonly number[], at: number, size: number) =>
      list.slice(at, at + size).some((choice) => choice > 0)
        ? [...list.slice(0, at), ...Array<number>(size).fill(0), ...list.slice(at + size)]
        : null,
    (list: readonly number[], at: number, size: number) => [...list.slice(0, at), ...list.slice(at + size)],
  ]
  for (let improved = true; improved && performance.now() <= until; ) {
    improved = false
    for (const changed of passes)
      for (let size = Math.ceil(choices.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
        // From the end, because later choices depend on earlier ones.
        for (let at = choices.length - size; at > -size && performance.now() <= until; at -= size) {
          const candidate = changed(choices, Math.max(0, at), size)
          if (candidate !== null && (await better(candidate))) improved = true
        }
  }
  return { played: best, choices, unusual: choices.filter((choice) => choice > 0).length }
}

/** Whether two histories break the same rule. Errors of the program differ by their first line. */
function isSame({ violation: one }: Played, { violation: other }: Played): boolean {
  if (one?.rule !== other?.rule) return false
  return one?.rule !== NO_ERROR || one.what.split('\n')[0] === other!.what.split('\n')[0]
}

/** A list without ordinary choices at its end, which follow anyway. */
function withoutEnd(choices: readonly number[]): readonly number[] {
  let length = choices.length
  while (length > 0 && choices[length - 1] === 0) length--
  return choices.slice(0, length)
}

/** Steps without a fault that only read, wait or renew. */
const ORDINARY =
  / (reads |lists |follows |asks for the head|asks for the lease|gives back|asks what is due|writes the tables|wakes|alarm|commits its queue|is patient)/
const UNUSUAL = /!!|does not happen|is lost|→ [A-Z]/

/** The most lines of a story after its last fault. */
const CALM_LINES = 40

/** The history as a story: who, what, outcome. Ordinary reads and waits are left out. */
export function storyOf({ story, violation }: Played): string {
  const told = story.flatMap((line, n) => {
    const quiet = !UNUSUAL.test(line) && (ORDINARY.test(line) || line.endsWith(' → ok'))
    return quiet ? [] : [`${String(n + 1).padStart(5)}  ${line}`]
  })
  const calm = told.findIndex((line) => line.includes('world calm'))
  const left = calm < 0 ? 0 : told.length - calm - CALM_LINES
  if (left > 0) told.splice(calm + CALM_LINES, left, `       … ${left} more lines without a fault`)
  return [...told, `    =>  ${violation?.what ?? 'every rule held'}`].join('\n')
}
