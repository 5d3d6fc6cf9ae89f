import type { NOTICE_TYPES } from '../../../domain/stream/notice.ts'

/** Something that a person should know, derived from one event of the log or from a parked stream. */
export interface Notice {
  /** From the event or the parked place, so that a repetition has the same id. */
  readonly id: string
  readonly type: (typeof NOTICE_TYPES)[number] | 'test'
  /** When it happened, or when a parked stream was seen, ISO 8601. */
  readonly at: string
  /** Null in a test, and for a parked stream of no run. */
  readonly run: string | null
  readonly agent: string | null
  readonly title: string
  /** The first line of the run's task; empty if it has none, and for a parked stream. */
  readonly text: string
  /** The run on the page. */
  readonly link: string
}
