import { accessSync, constants, mkdtempSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { PROGRAMS } from '../../../.ci/programs.js'

/**
 * Whether bubblewrap works on this machine. Tests that need it have the tag `bubblewrap`; others adapt their settings.
 */
export const hasBubblewrap = PROGRAMS.find(({ name }) => name === 'bubblewrap')!.works()

/** A new folder outside temporary folders and outside every home where this user can write elsewhere. */
export function openFolder(): string {
  const homes = ['/tmp', '/var/tmp', '/home', '/run', realpathSync(homedir())]
  const isOpen = (path: string) => !homes.some((home) => `${path}/`.startsWith(`${home}/`))
  const places = [resolve('node_modules'), '/opt', '/srv'].filter(isWritable)
  return mkdtempSync(join(places.find(isOpen) ?? places[0]!, '.keepup-test-'))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
