import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

// Debian's Chromium for tests. Nothing is downloaded: the package of the distribution is the browser.

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable']

/** The browser's program: that of CHROMIUM_PATH, or the first on the PATH. Throws where there is none. */
export function chromiumPath(env: NodeJS.ProcessEnv = process.env): string {
  const given = env.CHROMIUM_PATH
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const candidates =
    given === undefined ? folders.flatMap((folder) => NAMES.map((name) => join(folder, name))) : [given]
  const found = candidates.find(isProgram)
  if (found !== undefined) return found
  const where = given === undefined ? 'on the PATH' : `at ${given}`
  throw new Error(`there is no Chromium ${where}; install it (apt-get install chromium), or name it in CHROMIUM_PATH`)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Starts the browser. It resolves no name, so that only what a test serves, and loopback addresses, can be loaded. */
export async function startBrowser(): Promise<Browser> {
  // The browser's own sandbox refuses to run as root, as CI does.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const args = [...asRoot, '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1']
  return chromium.launch({ executablePath: chromiumPath(), args })
}
