import { dirname, isAbsolute } from 'node:path'

/** The only variables of our environment that commands get: no provider's key and no secret. */
const PASSED = ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS']

/** Those of {@link PASSED} that name files of certificates, or a folder of them. */
const CERTIFICATES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS']

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Folders of the PATH. The folder of our own node comes first, so that commands get the same node. */
export function searchPath(ours: NodeJS.ProcessEnv): string[] {
  const folders = (ours.PATH || DEFAULT_PATH).split(':').filter((folder) => isAbsolute(folder))
  return [...new Set([dirname(process.execPath), ...folders])]
}

/** The absolute paths of certificates in our environment, which commands get. */
export const certificatePaths = (ours: NodeJS.ProcessEnv): string[] =>
  CERTIFICATES.flatMap((name) => ours[name] ?? []).filter((path) => isAbsolute(path) && path !== '/')

/** The environment of commands. `extra` wins. */
export function commandEnvironment(
  ours: NodeJS.ProcessEnv,
  home: string,
  path: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const passed = PASSED.flatMap((name) => {
    const value = ours[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    LANG: 'C.UTF-8',
    ...Object.fromEntries(passed),
    PATH: path.join(':'),
    HOME: home,
    TMPDIR: '/tmp',
    SHELL: '/bin/sh',
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    ...extra,
  }
}
