import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const REMOVE = { recursive: true, force: true, maxRetries: 3 } as const

/**
 * Removes a temporary folder with all of its contents, even folders that a program made read-only, as package caches
 * are. Ignores failures: a program that has done its work must not fail because of them.
 */
export function removeScratch(folder: string): void {
  try {
    rmSync(folder, REMOVE)
  } catch {
    try {
      makeWritable(folder)
      rmSync(folder, REMOVE)
    } catch {
      // The folder belongs to another user, or a process still writes to it.
    }
  }
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700)
  // Skips links, so that the rights of their targets remain unchanged.
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(join(folder, entry.name))
}
