import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Processes of this machine whose command line holds a text; zombies aside. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Resolves when none is left; rejects with what still lives after `withinMs`. */
export async function noneLeft(text: string, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs
  for (;;) {
    const left = processesWith(text)
    if (left.length === 0) return
    if (performance.now() > end) throw new Error(`still alive: ${left.join(', ')}`)
    await wait(10)
  }
}
