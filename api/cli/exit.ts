/** Exit codes. `keepup help codes` prints them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  runError: 3,
  unmetGates: 4,
  verification: 5,
  replaced: 6,
  waiting: 8,
  interrupted: 130,
} as const

export const EXIT_HELP = `Exit codes:
  0    done
  1    failed: what was asked could not be done
  2    the command line or a setting cannot be understood, or names what is not there; nothing was recorded
  3    the run ended in ERROR, or was cancelled
  4    the run is DONE, but gates of its role do not hold
  5    verification failed, an export or an event is damaged, the log has lost events, or a rebuild
       found the tables not equal
  6    the log is another one than this process has opened, or than the tables are of
  8    the run waits for a person
  130  interrupted, or not agreed to

With -o json or jsonl a failure is {"error": {message, code, exitCode}} on stderr.
`

/** An invalid command line. The message says what is expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A failure that needs no output beyond its message. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exitCode: number
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message)
    this.exitCode = exitCode
  }
}
