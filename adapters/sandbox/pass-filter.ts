import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'

/** The descriptor of the filter of system calls. */
export const FILTER = 4

export const UNFILTERED =
  'programs in the sandbox can make set-user-ID files in the workspace until they end, and read the keyring of the session: ' +
  'there is no filter of system calls for this architecture; use x64 or arm64'

/** bubblewrap's arguments for a filter. Null: no filter. */
export const filterArguments = (filter: Buffer | null): string[] =>
  filter === null ? [] : ['--seccomp', String(FILTER)]

/** Writes a filter to bubblewrap's pipe at descriptor {@link FILTER}. */
export function giveFilter(child: ChildProcess, filter: Buffer | null): void {
  if (filter !== null) giveTo(child, FILTER, filter)
}

/**
 * Writes to a pipe that bubblewrap reads at its start. Ignores errors: bubblewrap does not read the pipe if it fails
 * earlier.
 */
export function giveTo(child: ChildProcess, descriptor: number, data: Buffer | string): void {
  const pipe = (child.stdio as readonly unknown[])[descriptor] as Writable
  pipe.on('error', () => {})
  pipe.end(data)
}
