import { readdirSync, readFileSync } from 'node:fs'
import { expect, vi } from 'vitest'

/** Processes of this machine whose command line contains a text, without zombies. */
export function processesWith(text: string): number[] {
  return processes((commandLine) => commandLine.includes(text))
}

/**
 * The number of processes with exactly this command line. A process before its `exec` (`setsid`, a shell) does not
 * count.
 */
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
 * Resolves when no process is left: a killed process ends some time after the signal. Not `expect.poll`, which does not
 * know its test while concurrent ones run.
 */
export async function noneLeft(text: string): Promise<void> {
  await vi.waitFor(() => expect(processesWith(text)).toEqual([]), { timeout: 30_000 })
}
