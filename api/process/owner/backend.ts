type OwnerCode = 'OWNER_SILENT' | 'OWNER_GONE' | 'NOTHING_YET'

/** A failure to reach the process that owns the data folder. The message contains the remedy. */
export class OwnerError extends Error {
  override readonly name = 'OwnerError'
  readonly code: OwnerCode
  constructor(code: OwnerCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The error for a read without a data folder. Reads must not create the folder. */
export const nothingYet = (dataFolder: string): OwnerError =>
  new OwnerError(
    'NOTHING_YET',
    `nothing is recorded in ${dataFolder} yet; start a run, or name another folder with --data`,
  )

/** The error for a read on servers without a log. The namespace may be misspelt. */
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
 * The CLI's only access to the runtime: the HTTP app, in this process or in the owner of the folder. `fetch` takes
 * requests for `http://localhost/v1/…` and adds the token. Rejects with {@link OwnerError} if the owner ends or does
 * not answer.
 */
export interface Backend {
  /** `owner`: this process has the lock; `reader`: it only reads; `remote`: another process answers. */
  readonly kind: 'owner' | 'reader' | 'remote'
  /** True: the owner does not answer, so this process reads the folder directly. */
  readonly besideSilent?: boolean
  fetch(request: Request): Promise<Response>
  /** Lets the drives of this process finish for at most `ms`. Default: `drainMs` of the configuration. */
  drain(ms?: number): Promise<void>
  close(): Promise<void>
}
