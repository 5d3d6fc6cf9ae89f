import { CodedError } from '../../domain/log/coded-error.ts'

/** An error of the projections. `code` is stable; `message` names the cause, then the remedy. */
export class ProjectionError extends CodedError<ProjectionErrorCode> {
  override readonly name = 'ProjectionError'
}

export type ProjectionErrorCode =
  | 'POSITION_TAKEN' // another writer has moved the position; this one must stop
  | 'LOG_MISMATCH' // the tables were made from another log, or from a later state of this log; rebuild them
  | 'LOG_OLDER' // the log ends before the position of the tables; a person decides
  | 'LOG_OTHER' // tables shared by several hosts belong to another log; only an explicit request replaces them
  | 'SCHEMA_NEWER' // a newer program wrote the file
  | 'SCHEMA_OTHER' // the rows have another meaning in this program; rebuild them
  | 'DAMAGED' // the file is damaged; rebuild the tables
  | 'ROWS_REFUSED' // the database refuses the content of the rows; nothing was written
  | 'NOT_FOUND'
  | 'NOT_PARKED'
  | 'NEWER_WRITER' // a newer program drives an agent; this one cannot read its events
  | 'UNAVAILABLE' // the database does not answer
  | 'FULL' // the database is full; nothing was written
  | 'REFUSED' // the database does not know this user, or denies it access
  | 'STOPPED' // the projector has stopped
  | 'ABORTED'

/** The error for tables that belong to another log than the current one. */
export const otherLog = (tables: string, log: string | null) =>
  new ProjectionError(
    'LOG_OTHER',
    `the tables are of the log ${tables}, and the event store holds ${log === null ? 'none yet' : `the log ${log}`}; look at KEEPUP_EVENTSTORE, KEEPUP_POSTGRES ` +
      'and KEEPUP_NAMESPACE. If the log was really replaced, rebuild the tables from this one: keepup rebuild --take-over',
  )
