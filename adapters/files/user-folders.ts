import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'

// The folders of a user for the files of a program: those of the XDG specification, or of Windows.

type Environment = Readonly<Record<string, string | undefined>>

/** The folder for data of programs. macOS uses the folders of Linux, so scripts name the same place on both. */
export function dataHome(env: Environment, platform: string = process.platform, home = homedir()): string {
  if (platform === 'win32') return env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local')
  return absolute(env.XDG_DATA_HOME) ?? posix.join(home, '.local', 'share')
}

/** The folder for settings and keys of programs. */
export function configHome(env: Environment, platform: string = process.platform, home = homedir()): string {
  if (platform === 'win32') return env.APPDATA || win32.join(home, 'AppData', 'Roaming')
  return absolute(env.XDG_CONFIG_HOME) ?? posix.join(home, '.config')
}

/** The XDG specification tells programs to ignore relative paths. */
const absolute = (path = ''): string | undefined => (posix.isAbsolute(path) ? path : undefined)
