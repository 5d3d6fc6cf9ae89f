import type { DatabaseSync } from 'node:sqlite'
import { LogError, shortened } from '../../../domain/log/errors.ts'
import { endOfLog, foreignMark, type LogEnd, storedLogId } from './log-end.ts'
import { MarkWriter, markOf } from './mark.ts'
import { type BatchOutcome, type Job, toFailure } from './protocol.ts'
import type { LogWriter } from './writer.ts'

/**
 * The writer with the log's mark. It marks each commit before acknowledging it. A log that ends before its mark refuses
 * appends until a person accepts the loss. The old mark remains until the acceptance is recorded.
 */
export class Marked {
  readonly end: LogEnd
  readonly #folder: string
  readonly #db: DatabaseSync
  readonly #writer: LogWriter
  readonly #warn: (text: string) => void
  #mark: MarkWriter | null = null
  #marked = -1
  #warned = false
  #state: 'open' | 'held' | 'accepting'

  constructor(folder: string, db: DatabaseSync, writer: LogWriter, warn: (text: string) => void) {
    this.#folder = folder
    this.#db = db
    this.#writer = writer
    this.#warn = warn
    this.end = endOfLog(folder, db)
    if (this.end.state === 'foreign') throw new LogError('LOG_FOREIGN', foreignMark(folder, this.end))
    this.#state = this.end.state === 'short' ? 'held' : 'open'
    if (this.#state === 'open') this.#update()
  }

  commit(jobs: readonly Job[]): BatchOutcome[] {
    if (this.#state === 'held') {
      const failure = toFailure(shortened(`the log in ${this.#folder} ends before its mark`))
      return jobs.map(({ id }) => ({ id, failure }))
    }
    const outcomes = this.#writer.commit(jobs)
    if (this.#state === 'open') this.#update()
    return outcomes
  }

  /** Returns true when the acceptance is recorded and the mark is up to date again. */
  accept(step: 'accept' | 'accepted'): boolean {
    if (step === 'accept') {
      if (this.#state === 'held') this.#state = 'accepting'
      return false
    }
    this.#state = 'open'
    this.#update()
    return true
  }

  close(): void {
    try {
      this.#mark?.close()
    } catch (error) {
      this.#fails(error)
    }
  }

  #update(): void {
    const { position, hash } = this.#writer.last
    if (position === 0 || position === this.#marked) return
    try {
      const mark = this.#opened()
      if (mark === null) return
      mark.update(position, hash)
      this.#marked = position
    } catch (error) {
      this.#fails(error)
    }
  }

  #opened(): MarkWriter | null {
    if (this.#mark !== null) return this.#mark
    const logId = storedLogId(this.#db)
    this.#mark = logId === null ? null : MarkWriter.open(this.#folder, logId)
    return this.#mark
  }

  /**
   * The events are durable without the mark. But without it a later loss may remain undetected, so a person must be
   * warned.
   */
  #fails(error: unknown): void {
    if (this.#warned) return
    this.#warned = true
    const why = error instanceof Error ? error.message : String(error)
    this.#warn(
      `the mark ${markOf(this.#folder)} cannot be written (${why}): only the tables tell whether the log loses its end. ` +
        'Where it is no mark, move it away; check that this user may write it; then start again',
    )
  }
}
