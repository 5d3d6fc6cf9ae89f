// The programs of the system that tests start, and how to install them. Plain JavaScript, because `npm run setup` runs on the
// Node of the host, before `npm ci`.

import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const succeeds = (file, args) => spawnSync(file, args, { stdio: 'ignore' }).status === 0

const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const onPath = (name) => (process.env.PATH ?? '').split(delimiter).some((folder) => isProgram(join(folder, name)))

/** The folder of PostgreSQL's server programs, the newest version first; undefined without a server. */
export function postgresPrograms() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  return folders.find((folder) => isProgram(join(folder, 'initdb')) && isProgram(join(folder, 'pg_ctl')))
}

/**
 * Each program: its name, which is also the tag of the tests that need it; its Debian package, null where no package helps;
 * whether it works on this machine; and what to do where it does not.
 */
export const PROGRAMS = [
  {
    name: 'bubblewrap',
    package: 'bubblewrap',
    works: () => succeeds('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true']),
  },
  { name: 'strace', package: 'strace', works: () => succeeds('strace', ['-f', '-o', '/dev/null', 'true']) },
  { name: 'git', package: 'git', works: () => succeeds('git', ['--version']) },
  { name: 'postgresql', package: 'postgresql', works: () => postgresPrograms() !== undefined },
  {
    name: 'chromium',
    package: 'chromium',
    works: () =>
      process.env.CHROMIUM_PATH === undefined
        ? ['chromium', 'chromium-browser', 'google-chrome-stable'].some(onPath)
        : isProgram(process.env.CHROMIUM_PATH),
  },
  {
    name: 'python3',
    package: 'python3',
    works: () => succeeds('python3', ['-c', 'import pty; pty.openpty()']),
  },
  {
    name: 'openssl',
    package: 'openssl',
    works: () => succeeds('openssl', ['genpkey', '-algorithm', 'ed25519']),
  },
  { name: 'systemd', package: 'systemd', works: () => succeeds('systemd-analyze', ['--version']) },
  { name: 'docker-compose', package: 'docker-compose', works: () => succeeds('docker-compose', ['version']) },
  {
    name: 'mounts',
    package: null,
    remedy: 'run the tests as root',
    works: () => succeeds('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']),
  },
]

/** What to do where a program is missing. */
export const remedyOf = (program) => program.remedy ?? `apt-get install ${program.package}, or npm run setup`
