import { spawn } from 'node:child_process'
import { findProgram, ProgramMissing } from '../../adapters/processes/programs.ts'

/** Programs that open a URL, with their first arguments. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
}

/** Not the user's PATH: `npx` adds programs of the folder in which an agent works. */
const PATH = '/usr/local/bin:/usr/bin:/bin:/snap/bin:/run/current-system/sw/bin'

/** The variables of the user's environment that a browser needs. */
const PASSED = /^(?:HOME|USER|LANG|LC_\w+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS)$/

/** Opens a URL in this host's browser. False: there is no browser or no screen. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): boolean {
  const [name, ...first] = OPENERS[process.platform] ?? []
  const hasScreen = process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
  if (name === undefined || !hasScreen) return false
  try {
    const passed = Object.fromEntries(Object.entries(env).filter(([key]) => PASSED.test(key)))
    const child = spawn(findProgram(name, { env }), [...first, url], {
      detached: true,
      stdio: 'ignore',
      env: { ...passed, PATH },
    })
    // The link is already printed, so ignore the error.
    child.on('error', () => undefined)
    child.unref()
    return true
  } catch (error) {
    if (error instanceof ProgramMissing) return false
    throw error
  }
}
