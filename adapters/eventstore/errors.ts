import { convertToCommandError, ErrorType, isCommandError } from '@eventstore/db-client'
import { LogError } from '../../domain/log/errors.ts'

/** Our own time limit has passed; the server may still do what it was asked. */
export class Overdue extends Error {
  constructor(what: string, ms: number) {
    super(`no answer to ${what} within ${ms} ms`)
    this.name = 'Overdue'
  }
}

/** Its turn did not come: the server was not asked. */
export class Unsent extends Overdue {}

/** The client was replaced under a call; the call is made again with the next one. */
export class Replaced extends Error {
  constructor() {
    super('the connection was replaced')
    this.name = 'Replaced'
  }
}

/** Branch on these, never on messages: they are often empty. */
export type Cause = ErrorType | 'other'

/** The kind of an error of the client. `other`: not one of its own, such as a failed discovery or a closed channel. */
export function causeOf(error: unknown): Cause {
  if (!(error instanceof Error)) return 'other'
  const known = asCommandError(error)
  return isCommandError(known) ? known.type : 'other'
}

/** The client's error for one of gRPC's. Its conversion stumbles over others that have a number as their code. */
export const asCommandError = (error: Error): Error =>
  'details' in error ? (convertToCommandError(error) as Error) : error

/**
 * Did the server answer this very call, so that the connection is known to work? Its refusals of an append are answers;
 * what bears a gRPC code ended the whole stream of appends.
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

/** How the server answers a read of the whole log from where no record begins; also when it failed itself. */
export function isUnexpectedResult(error: unknown): boolean {
  return causeOf(error) === ErrorType.UNKNOWN && (error as { code?: number }).code === 2
}

/** Does the error say nothing of the server's answer, so that only a new client helps (EventStoreDB client, 6.2.1)? */
export function needsNewClient(error: unknown): boolean {
  if (error instanceof Replaced) return false
  // A client whose discovery or capability call failed once keeps that failure for ever.
  return !(error instanceof Error && isCommandError(error))
}

/** Errors that no further try can mend, as LogErrors; null: it is not known whether anything happened, so try again. */
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

/** A read brought more than the client takes at once. An append ends like that because of a neighbour. */
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

/** The stream was ended for ever by an operator. */
export function tombstoned(stream: string, cause?: unknown): LogError {
  return new LogError(
    'LOG_CORRUPT',
    `stream ${stream} was tombstoned in the event store: its events can be neither read nor appended to. ` +
      'Restore a backup of the server that still has it',
    { cause },
  )
}

/** Events of the stream are hidden by its metadata; `why` says what was seen. */
export function hidden(stream: string, why: string): LogError {
  return new LogError(
    'LOG_CORRUPT',
    `${why}: stream ${stream} was deleted or truncated in the event store. ` +
      'Take $tb, $maxCount and $maxAge out of its metadata; if it was scavenged since, restore a backup',
  )
}

/** Nothing was heard for as long as the caller is patient. `writes`: what was asked for may have happened all the same. */
export function unavailable(what: string, servers: string, cause: unknown, writes = false): LogError {
  const doubt = writes ? 'it is not known whether it happened, so try the very same again; ' : ''
  return new LogError(
    'LOG_UNAVAILABLE',
    `the event store at ${servers} did not answer (${what}): ${told(cause)}; ${doubt}see that the server runs (one whose ` +
      'disk is full ends itself) and that the connection string names it',
    { cause },
  )
}

/** The message of a cause, without gRPC's prefix and suffix. */
function told(cause: unknown): string {
  if (!(cause instanceof Error) || cause.message === '') return causeOf(cause)
  return cause.message.replace(/^.*Last error: (?:Error: )?/s, '').replace(/[.\s]*Resolution note:.*$/s, '')
}
