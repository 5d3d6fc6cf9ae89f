import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Mutex } from '../../../../domain/stream/runtime/concurrency.ts'
import type { PastFile, PastTables } from '../../../../projections/index.ts'
import { Problem } from '../../../operations/problem.ts'
import type { PastState, SqlAuditor, SqlLimits, SqlResult } from '../../../operations/sql/auditor.ts'
import type { PastTablesFile } from '../open-sql.ts'

/** A question for the child process. */
export interface ToChild {
  /** The data folder. */
  readonly data: string
  /** The tables at a past position; absent: the live ones. */
  readonly past?: PastTablesFile
  readonly text: string
  readonly rows: number
  readonly ms: number
}

export type FromChild =
  | { readonly answer: SqlResult }
  | {
      readonly fault: { readonly kind: 'refused' | 'failed' | 'limit' | 'none'; readonly message: string }
    }

/** The time after which an idle child process ends, in ms. */
const IDLE_MS = 60_000
/** The time for a child process to start, in ms. */
const START_MS = 30_000
const QUEUE = 16
/** The most questions about past positions at once. Their tables are made one after the other. */
const PAST_QUEUE = 4
/** The time for the tables at a past position, with the questions before it, in ms. */
const PAST_MS = 120_000

const CODES = { refused: 'SQL_REFUSED', failed: 'SQL_FAILED', limit: 'SQL_LIMIT', none: 'SQL_UNAVAILABLE' } as const

/**
 * Answers SQL questions in a child process, one at a time. A running SQLite query cannot be interrupted from outside,
 * so a question that exceeds its limit is ended by killing the process. The next question starts a new one.
 */
export class ProcessAuditor implements SqlAuditor {
  readonly dialect = 'sqlite'
  readonly #data: string
  readonly #past: Pick<PastTables, 'at'>
  readonly #pastMs: number
  readonly #keepsEvents: boolean
  readonly #turn = new Mutex()
  #waiting = 0
  #waitingPast = 0
  readonly #closing = new AbortController()
  #child: ChildProcess | null = null
  #idle: NodeJS.Timeout | undefined

  /** `keepsEvents`: the tables of past positions have the events. */
  constructor(data: string, past: Pick<PastTables, 'at'>, { pastMs = PAST_MS, keepsEvents = false } = {}) {
    this.#keepsEvents = keepsEvents
    this.#data = data
    this.#past = past
    this.#pastMs = pastMs
  }

  async ask(text: string, limits: SqlLimits, state?: PastState): Promise<SqlResult> {
    if (state !== undefined) return this.#askPast(text, limits, state)
    if (this.#waiting >= QUEUE) throw new Problem('SQL_BUSY', `${QUEUE} questions wait for their turn; ask again later`)
    this.#waiting++
    try {
      return await this.#turn.run(() => this.#ask(text, limits))
    } finally {
      this.#waiting--
    }
  }

  async #askPast(text: string, limits: SqlLimits, { cursor, erased }: PastState): Promise<SqlResult> {
    if (this.#waitingPast >= PAST_QUEUE)
      throw new Problem('SQL_BUSY', `${PAST_QUEUE} questions about past positions wait; ask again later`)
    this.#waitingPast++
    const deadline = AbortSignal.timeout(this.#pastMs)
    const signal = AbortSignal.any([this.#closing.signal, deadline, ...(limits.signal ? [limits.signal] : [])])
    const query = async ({ path, erasedLater }: PastFile) => {
      if (erasedLater > 0 && !erased) throw new Problem('BODY_ERASED', erasedText(erasedLater))
      return this.#turn.run(() =>
        this.#ask(text, limits, { path, position: cursor.position, keepsEvents: this.#keepsEvents }),
      )
    }
    try {
      return await this.#past.at(cursor, query, signal)
    } catch (error) {
      if (limits.signal?.aborted && error === limits.signal.reason)
        throw new Problem('SQL_UNAVAILABLE', 'the client left before the tables at this position were made; ask again')
      if (!deadline.aborted || error !== deadline.reason) throw error
      throw new Problem(
        'SQL_LIMIT',
        `the tables at this position take more than ${this.#pastMs} ms; ask again later, or about an earlier position`,
      )
    } finally {
      this.#waitingPast--
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(ending())
    await this.#end()
  }

  async #ask(text: string, { rows, ms }: SqlLimits, past?: PastTablesFile): Promise<SqlResult> {
    if (this.#closing.signal.aborted) throw ending()
    clearTimeout(this.#idle)
    const child = await this.#started()
    const over = new AbortController()
    const limit = AbortSignal.timeout(ms)
    const signal = AbortSignal.any([over.signal, limit])
    const died = once(child, 'exit', { signal: over.signal }).then(() => ended())
    died.catch(() => undefined)
    child.ref()
    child.channel?.ref()
    try {
      child.send({ data: this.#data, ...(past && { past }), text, rows, ms } satisfies ToChild)
      const [said] = (await Promise.race([once(child, 'message', { signal }), died])) as [FromChild]
      if ('answer' in said) return said.answer
      throw new Problem(CODES[said.fault.kind], told(said.fault))
    } catch (error) {
      if (error instanceof Problem) throw error
      await this.#end()
      if (limit.aborted)
        throw new Problem('SQL_LIMIT', `the question took more than ${ms} ms; ask for less, or allow it more time`)
      throw ended()
    } finally {
      over.abort()
      child.unref()
      child.channel?.unref()
      this.#idle = setTimeout(() => void this.#turn.run(() => this.#end()), IDLE_MS).unref()
    }
  }

  async #started(): Promise<ChildProcess> {
    if (this.#child?.connected) return this.#child
    // The compiled package has .js files, the source tree .ts files.
    const file = import.meta.url.endsWith('.ts') ? './child.ts' : './child.js'
    const child = fork(new URL(file, import.meta.url), [], {
      ...{ env: {}, execArgv: [], serialization: 'advanced' as const },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // A process that fails to start also emits `exit`.
    child.on('error', () => undefined)
    await once(child, 'spawn', { signal: AbortSignal.timeout(START_MS) }).catch(() => Promise.reject(ended()))
    this.#child = child
    // The time of a question begins when the process has loaded its modules.
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(START_MS)])
    const died = once(child, 'exit', { signal }).then(() => Promise.reject(ended()))
    try {
      await Promise.race([once(child, 'message', { signal }), died])
    } catch {
      await this.#end()
      throw ended()
    } finally {
      over.abort()
      died.catch(() => undefined)
    }
    // The child must not keep this process alive.
    child.unref()
    child.channel?.unref()
    return child
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle)
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    // Without a reference, Node could exit before the code after the child's end runs.
    child.ref()
    child.kill('SIGKILL')
    await gone
  }
}

const erasedText = (count: number): string =>
  `the log erased ${count === 1 ? 'the body of one event' : `the bodies of ${count} events`} after this position, so the tables ` +
  'cannot be as they were; ask with "erased": true (--erased) to have null in place of these texts'

const ending = () => new Problem('SQL_UNAVAILABLE', 'keepup ends here; ask the next process')

const ended = () => new Problem('SQL_UNAVAILABLE', 'the process that answers in SQL has ended; ask again')

const told = ({ kind, message }: { readonly kind: string; readonly message: string }): string =>
  kind === 'refused'
    ? `${message}; send one SELECT over the tables`
    : kind === 'limit'
      ? 'the question needs more memory than it may have; ask for less'
      : kind === 'failed'
        ? `the question failed: ${message}`
        : message
