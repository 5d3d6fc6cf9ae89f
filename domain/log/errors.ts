/** An operation that a log could not do. `code` is stable; `message` says what to do. */
export class LogError extends Error {
  readonly code: LogErrorCode
  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LogError'
    this.code = code
  }
}

export type LogErrorCode =
  | 'CONFLICT' // another event stands at the expected revision; nothing was written
  | 'LOG_FULL' // the disk has no room; nothing was written, a later start works
  | 'LOG_UNAVAILABLE' // not known whether it was written; resend the same sealed bytes
  | 'LOG_LOCKED' // another process owns the data folder
  | 'LOG_CORRUPT' // what is stored is not what was sealed
  | 'LOG_FOREIGN' // not a keepup log
  | 'LOG_REPLACED' // another log is in the place of the one that was opened
  | 'LOG_MISSING' // gone or empty, though what was written with it is there
  | 'LOG_SHORTENED' // it has lost its end; it can be read, and a person decides
  | 'LOG_NEWER' // written by a newer program
  | 'LOG_REFUSED' // the server refuses access: credentials, rights, scheme, version; the message says which
  | 'LOG_CLOSED'
  | 'APPEND_TOO_LARGE'
  | 'APPEND_INVALID' // an empty or unchained batch: a programming error
  | 'CURSOR_INVALID'
  | 'CURSOR_MISMATCH' // the cursor is of another log, or of a later state of this one
  | 'BLOB_MISSING'
  | 'BODY_ERASED'
  | 'ERASE_IMPOSSIBLE' // this log cannot empty a stored body
  | 'UNKNOWN_EVENT'
  | 'FOLD_DIFFERS' // the folded state is not the one whose digest was recorded

const NOT_WRITTEN: ReadonlySet<LogErrorCode> = new Set([
  'CONFLICT',
  'LOG_FULL',
  'LOG_SHORTENED',
  'APPEND_INVALID',
  'APPEND_TOO_LARGE',
])

/** Was an append refused, so that nothing of it was written or will be? Every other failure leaves that unknown. */
export const notWritten = (error: unknown): boolean => error instanceof LogError && NOT_WRITTEN.has(error.code)

/**
 * The head a conflicting append met: -1 where the stream does not exist. `actual` equals `expected` where the stream
 * stands still, but the log has moved past the batch's time, which a resend can meet; `why` then says so.
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

/** The error that says that the disk had no room, among this one and its causes; null where it was something else. */
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

/** The second: no room for what readers and writers share. */
const isFull = (errcode: number): boolean => (errcode & 0xff) === SQLITE_FULL || errcode === SQLITE_IOERR_SHMSIZE
const SQLITE_IOERR_SHMSIZE = 4874

export const cursorError = (code: 'CURSOR_INVALID' | 'CURSOR_MISMATCH', message: string) => new LogError(code, message)

/** The answer to a request that a lost end of the log keeps from being recorded. `what`: the loss, as a sentence. */
export const shortened = (what: string): LogError =>
  new LogError(
    'LOG_SHORTENED',
    `${what}; it can be read, but nothing is recorded and no run goes on. Look with "keepup repair", then restore a backup ` +
      'of the log, or accept the loss with "keepup repair --accept-loss"',
  )
