import { readFileSync } from 'node:fs'

/** The programs of the system that keepup starts. */
export type SystemProgram = 'git' | 'bubblewrap'

/** Commands that install a package, by the ids of Linux distributions (`ID` and `ID_LIKE` of os-release). */
const MANAGERS: Readonly<Record<string, string>> = {
  ...{ debian: 'sudo apt-get install', ubuntu: 'sudo apt-get install' },
  ...{ fedora: 'sudo dnf install', rhel: 'sudo dnf install', centos: 'sudo dnf install' },
  ...{ arch: 'sudo pacman -S', alpine: 'apk add', suse: 'sudo zypper install', opensuse: 'sudo zypper install' },
}

/** This system, as advice about installations needs it. */
export interface System {
  readonly platform: NodeJS.Platform
  /** The text of /etc/os-release; empty: there is none. */
  readonly osRelease: string
}

export function thisSystem(): System {
  try {
    return { platform: process.platform, osRelease: readFileSync('/etc/os-release', 'utf8') }
  } catch {
    return { platform: process.platform, osRelease: '' }
  }
}

/** The command or the words that say how a program gets onto this system. */
export function howToInstall(program: SystemProgram, { platform, osRelease }: System = thisSystem()): string {
  if (platform !== 'linux' && program === 'bubblewrap')
    return `bubblewrap works on Linux only; run keepup in a container or a virtual machine with Linux${platform === 'win32' ? ' (WSL 2)' : ''}`
  if (platform === 'darwin') return 'brew install git, or xcode-select --install'
  if (platform === 'win32') return 'winget install Git.Git'
  const ids = [...osRelease.matchAll(/^ID(?:_LIKE)?="?([\w\s.-]+?)"?$/gm)].flatMap(([, names]) => names!.split(/\s+/))
  const manager = ids.map((id) => MANAGERS[id.replace(/-.*$/, '')]).find((command) => command !== undefined)
  return manager === undefined ? `install the package ${program} of this system` : `${manager} ${program}`
}
