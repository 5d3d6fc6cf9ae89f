import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

// Debian's Chromium for tests. Nothing is downloaded: the distribution's package provides the browser.

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable']

/** The browser's program: CHROMIUM_PATH, or the first one on the PATH. Throws if none is found. */
function chromiumPath(env: NodeJS.ProcessEnv = process.env): string {
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

/** Starts the browser. It resolves no host names, so it can load only the test's server and loopback addresses. */
export async function startBrowser(): Promise<Browser> {
  // The browser's sandbox refuses to run as root, which CI uses.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const args = [...asRoot, '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1']
  return chromium.launch({ executablePath: chromiumPath(), args })
}
