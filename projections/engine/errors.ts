/** A failure of the projections. `code` is stable; `message` says what is wrong, then what to do. */
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
  | 'LOG_OLDER' // the log ends before the position of the tables; a person decides
  | 'LOG_OTHER' // tables that several hosts share are of another log; they are replaced on request only
  | 'SCHEMA_NEWER' // the file was written by a newer program
  | 'SCHEMA_OTHER' // the rows mean something else in this program; rebuild them
  | 'DAMAGED' // the file is not as it was written; rebuild the tables
  | 'ROWS_REFUSED' // the database refuses the content of the rows; nothing was written
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
      'and KEEPUP_NAMESPACE. If the log was really replaced, rebuild the tables from this one: keepup rebuild --take-over',
  )
