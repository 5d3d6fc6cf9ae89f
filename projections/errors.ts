/** What the projections could not do. `code` is stable; `message` says what to do. */
export class ProjectionError extends Error {
  override readonly name = 'ProjectionError'
  readonly code: ProjectionErrorCode
  constructor(code: ProjectionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type ProjectionErrorCode =
  | 'POSITION_TAKEN' // another writer has moved the position; this one must stop
  | 'LOG_MISMATCH' // the tables were made from another log, or from a later state of this one; rebuild them
  | 'LOG_OLDER' // the log ends before what the tables have seen of it; a person decides
  | 'LOG_OTHER' // tables that several hosts share are of another log; nobody replaces them unasked
  | 'SCHEMA_NEWER' // the file was written by a newer program
  | 'SCHEMA_OTHER' // the rows mean something else in this program; rebuild them
  | 'DAMAGED' // the file is not as it was written; rebuild the tables
  | 'ROWS_REFUSED' // the database does not take what the rows hold; nothing was written
  | 'NOT_FOUND'
  | 'NOT_PARKED'
  | 'NEWER_WRITER' // an agent is driven by a program whose events this one cannot read
  | 'UNAVAILABLE' // the database does not answer
  | 'FULL' // the database has no room; nothing was written
  | 'REFUSED' // the database does not know this user, or does not let it
  | 'STOPPED' // the projector has ended
  | 'ABORTED'

/** The tables are of one log, and the log at hand is another. */
export const otherLog = (tables: string, log: string | null) =>
  new ProjectionError(
    'LOG_OTHER',
    `the tables are of the log ${tables}, and the event store holds ${log === null ? 'none yet' : `the log ${log}`}; look at KEEPUP_EVENTSTORE, KEEPUP_POSTGRES ` +
      'and KEEPUP_NAMESPACE. If the log was really replaced, make the tables anew of this one: keepup rebuild --take-over',
  )
