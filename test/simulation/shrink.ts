import { type Played, play } from './play.ts'

/** The longest search for a shorter history, in ms. */
const LIMIT_MS = 30_000

export interface Shrunk {
  readonly played: Played
  readonly choices: readonly number[]
  /** The choices that are not ordinary: they are what matters. */
  readonly unusual: number
}

/**
 * Looks for a shorter list of choices that breaks the same rule: drops parts of the list, and makes choices ordinary,
 * from large parts to single ones.
 */
export async function shrink(first: Played, limitMs = LIMIT_MS): Promise<Shrunk> {
  const until = performance.now() + limitMs
  let best = first
  let choices = first.choices
  const better = async (candidate: readonly number[]): Promise<boolean> => {
    if (performance.now() > until) return false
    const tried = await play(candidate)
    if (tried.violation?.rule !== first.violation?.rule) return false
    best = tried
    choices = withoutEnd(tried.choices.slice(0, candidate.length))
    return true
  }
  await better(withoutEnd(choices))
  for (let improved = true; improved && performance.now() <= until; ) {
    improved = false
    for (let size = Math.ceil(choices.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      // From the end, because later choices depend on earlier ones.
      for (let at = Math.max(0, choices.length - size); at >= 0; at -= size) {
        if (performance.now() > until) break
        const part = choices.slice(at, at + size)
        const without = [...choices.slice(0, at), ...choices.slice(at + size)]
        if (part.length > 0 && (await better(without))) improved = true
        else if (part.some((choice) => choice > 0)) {
          const ordinary = [...choices.slice(0, at), ...part.map(() => 0), ...choices.slice(at + size)]
          if (await better(ordinary)) improved = true
        }
      }
    }
  }
  return { played: best, choices, unusual: choices.filter((choice) => choice > 0).length }
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

/** The history as a story: who, what, outcome. Ordinary reads and waits are left out. */
export function storyOf({ story, violation }: Played): string {
  const told = story.flatMap((line, n) => {
    const quiet = !UNUSUAL.test(line) && (ORDINARY.test(line) || line.endsWith(' → ok'))
    return quiet ? [] : [`${String(n + 1).padStart(5)}  ${line}`]
  })
  return [...told, `    =>  ${violation?.what ?? 'every rule held'}`].join('\n')
}
