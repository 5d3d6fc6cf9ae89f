import { convertToCommandError, ErrorType, isCommandError } from '@eventstore/db-client'
import { LogError } from '../../domain/log/errors.ts'

/** keepup's own time limit has passed. The server may still perform the request. */
export class Overdue extends Error {
  constructor(what: string, ms: number) {
    super(`no answer to ${what} within ${ms} ms`)
    this.name = 'Overdue'
  }
}

/** The request waited too long for its turn and was not sent. */
export class Unsent extends Overdue {}

/** The client was replaced during a call. The caller repeats the call with the next client. */
export class Replaced extends Error {
  constructor() {
    super('the connection was replaced')
    this.name = 'Replaced'
  }
}

/** Branch on the cause, never on the message, which is often empty. */
export type Cause = ErrorType | 'other'

/**
 * The kind of a client error. `other`: an error that is not the client's, such as a failed discovery or a closed
 * channel.
 */
export function causeOf(error: unknown): Cause {
  if (!(error instanceof Error)) return 'other'
  const known = asCommandError(error)
  return isCommandError(known) ? known.type : 'other'
}

/**
 * Converts a gRPC error to the client's error. Other errors are excluded: the client's conversion fails on an error
 * with a number as its code.
 */
export const asCommandError = (error: Error): Error =>
  'details' in error ? (convertToCommandError(error) as Error) : error

/**
 * Whether the server answered this call, which shows that the connection works. The server's refusals of an append are
 * answers. An error with a gRPC code ended the whole stream of appends.
 */
export function isAnswer(error: unknown): boolean {
  return ANSWERS.has(causeOf(error))
}

const ANSWERS: ReadonlySet<Cause> = new Set<Cause>([
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.STREAM_DELETED,
  ErrorType.STREAM_NOT_FOUND,
  ErrorType.ACCESS_DENIED,
])

/**
 * Whether a read of the whole log failed as it does at a position where no record begins. An internal fault of the
 * server looks the same.
 */
export function isUnexpectedResult(error: unknown): boolean {
  return causeOf(error) === ErrorType.UNKNOWN && (error as { code?: number }).code === 2
}

/** Whether only a new client helps, because the error does not come from the server (EventStoreDB client 6.2.1). */
export function needsNewClient(error: unknown): boolean {
  if (error instanceof Replaced) return false
  // After one failed discovery or capability call, a client repeats that failure for ever.
  return !(error instanceof Error && isCommandError(error))
}

/** The LogError of an error that no retry can resolve. Null: the outcome is unknown, so retry. */
export function permanent(error: unknown, stream: string): LogError | null {
  if (error instanceof LogError) return error
  switch (causeOf(error)) {
    case ErrorType.ACCESS_DENIED:
      return new LogError(
        'LOG_REFUSED',
        `the event store refuses ${stream} to this user; check user, password and access rights in the connection string`,
        { cause: error },
      )
    case ErrorType.STREAM_DELETED:
      return tombstoned(stream, error)
    default:
      return null
  }
}

/**
 * The LogError of a read that returned more than the client can receive at once. An append can fail with the same code
 * because of another append, so this is for reads only.
 */
export function tooMuch(error: unknown, stream: string): LogError | null {
  if (causeOf(error) !== ErrorType.UNKNOWN || (error as { code?: number }).code !== RESOURCE_EXHAUSTED) return null
  return new LogError(
    'LOG_FOREIGN',
    `${stream} holds an event that is larger than the client takes (17 MiB), which keepup never writes; let nothing ` +
      'else write to streams of this namespace, and start with another namespace',
    { cause: error },
  )
}

const RESOURCE_EXHAUSTED = 8

/** An operator has tombstoned the stream. */
export function tombstoned(stream: string, cause?: unknown): LogError {
  return new LogError(
    'LOG_CORRUPT',
    `stream ${stream} was tombstoned in the event store: its events can be neither read nor appended to. ` +
      'Restore a backup of the server that still has it',
    { cause },
  )
}

/** The stream's metadata hides events. `why`: the observation. */
export function hidden(stream: string, why: string): LogError {
  return new LogError(
    'LOG_CORRUPT',
    `${why}: stream ${stream} was deleted or truncated in the event store. ` +
      'Take $tb, $maxCount and $maxAge out of its metadata; if it was scavenged since, restore a backup',
  )
}

/** The server did not answer within the caller's time limit. `writes`: the request may have been performed. */
export function logUnavailable(what: string, servers: string, cause: unknown, writes = false): LogError {
  const doubt = writes ? 'it is not known whether it happened, so try the very same again; ' : ''
  return new LogError(
    'LOG_UNAVAILABLE',
    `the event store at ${servers} did not answer (${what}): ${told(cause)}; ${doubt}see that the server runs (one whose ` +
      'disk is full ends itself) and that the connection string names it',
    { cause },
  )
}

/** The message of a cause without the prefix and suffix of gRPC. */
function told(cause: unknown): string {
  if (!(cause instanceof Error) || cause.message === '') return causeOf(cause)
  return cause.message.replace(/^.*Last error: (?:Error: )?/s, '').replace(/[.\s]*Resolution note:.*$/s, '')
}
