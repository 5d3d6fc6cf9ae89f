import { dirname, isAbsolute } from 'node:path'

/** The only variables of keepup's environment that commands get. None of them contains a provider's key or a secret. */
const PASSED = ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS']

/** The variables of {@link PASSED} with paths of certificates. */
const CERTIFICATES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS']

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The folders of the PATH. The folder of keepup's own node is first, so that commands get the same node. */
export function searchPath(ours: NodeJS.ProcessEnv): string[] {
  const folders = (ours.PATH || DEFAULT_PATH).split(':').filter((folder) => isAbsolute(folder))
  return [...new Set([dirname(process.execPath), ...folders])]
}

/** The absolute paths of certificates in keepup's environment. Commands can read them. */
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
