import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const REMOVE = { recursive: true, force: true, maxRetries: 3 } as const

/**
 * Removes a temporary folder with all that a program left in it, also folders that it made read-only, as package caches are.
 * What cannot be removed stays: a program that has done its work does not fail for it.
 */
export function removeScratch(folder: string): void {
  try {
    rmSync(folder, REMOVE)
  } catch {
    try {
      makeWritable(folder)
      rmSync(folder, REMOVE)
    } catch {
      // It is another user's, or something still writes there.
    }
  }
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700)
  // A link is no folder here: what it leads to keeps its rights.
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(join(folder, entry.name))
}
