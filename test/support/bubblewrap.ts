import { execFileSync } from 'node:child_process'

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

/** Skips only where nobody relies on the answer. */
export const skipWithoutBubblewrap = !hasBubblewrap && process.env.CI !== 'true'
