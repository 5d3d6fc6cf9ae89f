type OwnerCode = 'OWNER_SILENT' | 'OWNER_GONE' | 'NOTHING_YET'

/** A failure to reach the process that owns the data folder; the message says what to do. */
export class OwnerError extends Error {
  override readonly name = 'OwnerError'
  readonly code: OwnerCode
  constructor(code: OwnerCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Reading makes nothing: who only looks must not leave a data folder behind. */
export const nothingYet = (dataFolder: string): OwnerError =>
  new OwnerError(
    'NOTHING_YET',
    `nothing is recorded in ${dataFolder} yet; start a run, or name another folder with --data`,
  )

/** The same on servers, where a namespace may be misspelt. */
export const nothingOf = (namespace: string): OwnerError =>
  new OwnerError(
    'NOTHING_YET',
    `the event store holds no log of the namespace "${namespace}" yet; start a run, or see KEEPUP_NAMESPACE and KEEPUP_EVENTSTORE`,
  )

export const ownerSilent = (dataFolder: string): OwnerError =>
  new OwnerError(
    'OWNER_SILENT',
    `another process owns ${dataFolder} and does not answer; look for a stopped "keepup" (ps, then kill -CONT or end it) and try again`,
  )

/**
 * The one way in which the CLI reaches the runtime: the HTTP app, in this process or in the one that owns the folder.
 * `fetch` takes requests for `http://localhost/v1/…` and adds the token. Rejects with {@link OwnerError} where the
 * owner went away or fell silent.
 */
export interface Backend {
  /** `owner`: this process holds the lock; `reader`: it only reads; `remote`: another process answers. */
  readonly kind: 'owner' | 'reader' | 'remote'
  /** It reads beside an owner that does not answer. */
  readonly besideSilent?: boolean
  fetch(request: Request): Promise<Response>
  /** Lets what this process drives come to rest, for `ms` at most; `drainMs` of the configuration where none is given. */
  drain(ms?: number): Promise<void>
  /** Drains, then closes. */
  close(): Promise<void>
}
