/** A decision met new events so often that it was given up. Try again. */
export class ContentionError extends Error {
  override readonly name = 'ContentionError'
  readonly code = 'CONTENTION'
}
