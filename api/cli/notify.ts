import { spawn } from 'node:child_process'
import { findProgram, ProgramMissing } from '../../adapters/processes/programs.ts'
import { inWorkspaces } from '../../adapters/processes/workspaces.ts'
import type { Context } from './context.ts'
import { oneLine } from './output/text.ts'

// A notice for the person at this terminal, who may look at another window.

/** The variables of the user's environment that a desktop needs. */
const PASSED = /^(?:HOME|USER|LANG|LC_\w+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$/
const PATH = '/usr/local/bin:/usr/bin:/bin'
/** The script takes its texts as arguments, so no text is part of a program. */
const SCRIPT = [
  ...['-e', 'on run argv', '-e', 'display notification (item 2 of argv) with title (item 1 of argv)', '-e', 'end run'],
]

/** The bell and a notification in the forms of iTerm2 (OSC 9) and rxvt (OSC 777). Terminals ignore an unknown form. */
export function terminalNotice(title: string, text: string): string {
  // A semicolon separates the parts of OSC 777.
  const [head, body] = [title, text].map((part) => oneLine(part).replace(/[\p{Cc};]/gu, ' '))
  return `\u0007\u001b]9;${head}: ${body}\u0007\u001b]777;notify;${head};${body}\u0007`
}

/** The program that shows a notice on the desktop, with its arguments; null: this system has none. */
export function desktopNotice(
  [title, text]: readonly [string, string],
  { env, platform }: { readonly env: NodeJS.ProcessEnv; readonly platform: NodeJS.Platform },
): readonly [program: string, args: readonly string[]] | null {
  if (platform === 'darwin') return ['osascript', [...SCRIPT, title, text]]
  const hasScreen = Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
  return platform === 'linux' && hasScreen ? ['notify-send', ['--app-name=keepup', '--', title, text]] : null
}

/** Tells the person that a run waits. Only at a terminal, and never where the setting `notices` is off. */
export function notifyPerson(ctx: Pick<Context, 'io' | 'config'>, title: string, text: string): void {
  const { io, config } = ctx
  if (config.notices === 'off' || io.stderr.isTTY !== true) return
  io.stderr.write(terminalNotice(title, text))
  const found = desktopNotice([oneLine(title), oneLine(text)], { env: io.env, platform: process.platform })
  if (found === null) return
  const [name, args] = found
  try {
    const program = findProgram(name, { env: io.env, writable: inWorkspaces(io.cwd, config.data) })
    const passed = Object.fromEntries(Object.entries(io.env).filter(([key]) => PASSED.test(key)))
    const child = spawn(program, args, { detached: true, stdio: 'ignore', env: { ...passed, PATH } })
    // The terminal has shown the notice.
    child.on('error', () => undefined)
    child.unref()
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error
  }
}
