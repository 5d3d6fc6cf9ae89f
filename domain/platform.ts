/** The parts of an operating system that keepup uses and that some systems lack. */
export interface Platform {
  /** The permission bits of a file say who may read it. */
  readonly hasModes: boolean
  /** A folder can be opened: to make its names durable, and to reach its files while it moves. */
  readonly opensFolders: boolean
  /** A local socket is a file. Otherwise it is a named pipe, whose name is no path. */
  readonly hasSocketFiles: boolean
  /** There is /bin/sh, and a signal reaches a command with all that it started. */
  readonly hasShell: boolean
  /** The kernel has namespaces, which confine commands, and /proc, which shows processes. */
  readonly hasNamespaces: boolean
}

/** The platform with a name of `process.platform`. */
export function platformOf(name: string): Platform {
  const isPosix = name !== 'win32'
  return {
    ...{ hasModes: isPosix, opensFolders: isPosix, hasSocketFiles: isPosix, hasShell: isPosix },
    hasNamespaces: name === 'linux',
  }
}

/** The refusal of what Windows lacks. `what`: its subject. */
export const needsPosix = (what: string): string =>
  `${what} cannot be used on Windows; run keepup in the Windows Subsystem for Linux (WSL 2) or in a container`
