import { readdirSync, readFileSync } from 'node:fs'
import { expect, vi } from 'vitest'

/** Processes of this machine whose command line holds a text; zombies aside. */
export function processesWith(text: string): number[] {
  return processes((commandLine) => commandLine.includes(text))
}

/** How many run exactly these words; one that is about to become them (`setsid`, a shell) is none yet. */
export function running(...words: string[]): number {
  return processes((commandLine) => commandLine === `${words.join('\0')}\0`).length
}

function processes(wanted: (commandLine: string) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return wanted(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
      } catch {
        return false
      }
    })
    .map(Number)
}

/**
 * Resolves when none is left: a killed process ends when the machine finds the time, not when the signal was sent. Not
 * `expect.poll`, which knows no test while concurrent ones run.
 */
export async function noneLeft(text: string): Promise<void> {
  await vi.waitFor(() => expect(processesWith(text)).toEqual([]), { timeout: 30_000 })
}
