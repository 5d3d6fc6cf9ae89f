import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'

// The folders of a user for the files of a program: those of the XDG specification, or of Windows.

type Environment = Readonly<Record<string, string | undefined>>

/** Where programs keep data. macOS has the folders of Linux, so that scripts name the same place on both. */
export function dataHome(env: Environment, platform: string = process.platform, home = homedir()): string {
  if (platform === 'win32') return env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local')
  return env.XDG_DATA_HOME || posix.join(home, '.local', 'share')
}

/** Where programs keep settings and keys. */
export function configHome(env: Environment, platform: string = process.platform, home = homedir()): string {
  if (platform === 'win32') return env.APPDATA || win32.join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || posix.join(home, '.config')
}
