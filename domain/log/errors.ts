/** An error of a log operation. `code` is stable; `message` names the cause and the remedy. */
export class LogError extends Error {
  readonly code: LogErrorCode
  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LogError'
    this.code = code
  }
}

/** The code of a {@link LogError}. */
export type LogErrorCode =
  | 'CONFLICT' // another event is at the expected revision; nothing was written
  | 'LOG_FULL' // the disk is full; nothing was written, a later attempt can succeed
  | 'LOG_UNAVAILABLE' // unknown whether it was written; resend the same sealed bytes
  | 'LOG_LOCKED' // another process owns the data folder
  | 'LOG_CORRUPT' // stored data differs from the sealed data
  | 'LOG_FOREIGN' // not a keepup log
  | 'LOG_REPLACED' // another log replaced the opened one
  | 'LOG_MISSING' // gone or empty, although data that was written with it exists
  | 'LOG_SHORTENED' // its last events are lost; readable, but closed to appends until a person decides
  | 'LOG_NEWER' // written by a newer program
  | 'LOG_REFUSED' // the server refuses access (credentials, rights, scheme, version); see the message
  | 'LOG_CLOSED'
  | 'APPEND_TOO_LARGE'
  | 'APPEND_INVALID' // an empty or unchained batch: a programming error
  | 'CURSOR_INVALID'
  | 'CURSOR_MISMATCH' // the cursor is from another log, or from a later state of this log
  | 'BLOB_MISSING'
  | 'BODY_ERASED'
  | 'ERASE_IMPOSSIBLE' // this log cannot empty a stored body
  | 'UNKNOWN_EVENT'
  | 'FOLD_DIFFERS' // the folded state does not match the recorded digest

const NOT_WRITTEN: ReadonlySet<LogErrorCode> = new Set([
  'CONFLICT',
  'LOG_FULL',
  'LOG_SHORTENED',
  'APPEND_INVALID',
  'APPEND_TOO_LARGE',
])

/** Whether an append was refused: none of its events is written now or later. After any other error this is unknown. */
export const notWritten = (error: unknown): boolean => error instanceof LogError && NOT_WRITTEN.has(error.code)

/**
 * The head that a conflicting append met: -1 when the stream does not exist. `actual` equals `expected` when the stream
 * did not change but the log's time moved past the batch's time; a resend can meet this, and `why` then says so.
 */
export class ConflictError extends LogError {
  readonly stream: string
  readonly expected: number
  readonly actual: number
  constructor(stream: string, expected: number, actual: number, why?: string) {
    super(
      'CONFLICT',
      why ?? `stream ${stream} is at revision ${actual}, not ${expected}; read the new events and decide again`,
    )
    this.stream = stream
    this.expected = expected
    this.actual = actual
  }
}

const SQLITE_FULL = 13
const DEPTH = 5

/** Finds an error about a full disk among an error and its causes; null when there is none. */
export function noRoomIn(error: unknown): Error | null {
  let at = error
  for (let depth = 0; depth < DEPTH && at instanceof Error; depth++) {
    const { code, errcode } = at as { code?: unknown; errcode?: unknown }
    const full = code === 'LOG_FULL' || code === 'ENOSPC' || code === 'EDQUOT'
    if (full || (typeof errcode === 'number' && isFull(errcode))) return at
    at = at.cause
  }
  return null
}

/** SQLITE_IOERR_SHMSIZE: no room to grow the shared memory of readers and writers. */
const isFull = (errcode: number): boolean => (errcode & 0xff) === SQLITE_FULL || errcode === SQLITE_IOERR_SHMSIZE
const SQLITE_IOERR_SHMSIZE = 4874

export const cursorError = (code: 'CURSOR_INVALID' | 'CURSOR_MISMATCH', message: string) => new LogError(code, message)

/** The error for an append to a log that lost its last events. `what`: the loss, as a sentence. */
export const shortened = (what: string): LogError =>
  new LogError(
    'LOG_SHORTENED',
    `${what}; it can be read, but nothing is recorded and no run goes on. Look with "keepup repair", then restore a backup ` +
      'of the log, or accept the loss with "keepup repair --accept-loss"',
  )
