import { execFileSync } from 'node:child_process'
import { accessSync, constants, mkdtempSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Whether commands can be confined here. With CI=true tests must not go by without it. */
export const hasBubblewrap = ((): boolean => {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    if (process.env.CI !== 'true') console.warn('bubblewrap does not work here: the tests of the sandbox DID NOT RUN')
    return false
  }
})()

/** Skips only outside CI. */
export const skipWithoutBubblewrap = !hasBubblewrap && process.env.CI !== 'true'

/**
 * A new folder. `seen`: whether confined commands see what lies in it, which they do not in temporary folders and homes,
 * where this tree may lie and where an ordinary user alone may write.
 */
export function openFolder(): { readonly folder: string; readonly seen: boolean } {
  const hidden = ['/tmp', '/var/tmp', '/home', '/run', realpathSync(homedir())]
  const isSeen = (path: string) => !hidden.some((one) => `${path}/`.startsWith(`${one}/`))
  const places = [resolve('node_modules'), '/opt', '/srv'].filter(isWritable)
  const place = places.find(isSeen) ?? places[0]!
  return { folder: mkdtempSync(join(place, '.keepup-test-')), seen: isSeen(place) }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
