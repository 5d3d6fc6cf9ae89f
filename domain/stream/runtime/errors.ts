/** Work did not end within its time limit. Its late result is ignored; try again. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
  readonly code = 'TIME_LIMIT'
  constructor(what: string, limitMs: number) {
    super(`${what} did not end within ${limitMs} ms; look at what it waits for, and try again`)
  }
}

/** A decision conflicted with new events too often. Try again. */
export class ContentionError extends Error {
  override readonly name = 'ContentionError'
  readonly code = 'CONTENTION'
}
