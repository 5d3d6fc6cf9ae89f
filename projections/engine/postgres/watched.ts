import { Socket } from 'node:net'
import pg from 'pg'

/** Maximum time of the check on the other connection, ms. */
const ANSWER_WITHIN_MS = 10_000
/** The number of consecutive checks that must find no work before a connection counts as silent. */
const LOOKS = 2
/**
 * Finds sessions that work or wait for a lock, but not those that wait for their client, even within a statement.
 * `disabled`: the server does not track activity (track_activities), but still reports waits.
 */
const AT_WORK = `select from pg_stat_activity
  where pid = $1 and state in ('active', 'disabled') and wait_event_type is distinct from 'Client'`

/**
 * A connection that cannot hang forever. A proxy, a firewall or a dead host may leave a connection open without
 * answers, and a time limit would also end long statements. So after `silentMs` without an answer, another connection
 * asks the server about this one. If the server is unreachable or not working on the query, this connection is broken
 * off with `ETIMEDOUT`, like a lost one.
 */
export class WatchedClient extends pg.Client {
  readonly #config: pg.ClientConfig
  readonly #silentMs: number
  readonly #socket: Socket
  #pid: number | null = null
  #timer: NodeJS.Timeout | null = null
  /** Increases with each query. A watch ends when the number has changed. */
  #question = 0
  #waits = false

  constructor(config: pg.ClientConfig, silentMs: number) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#config = config
    this.#silentMs = silentMs
    this.#socket = socket
    this.on('drain', () => this.#answered())
    this.on('end', () => this.#answered())
    // The user of a broken connection gets its error; an idle connection may break.
    this.on('error', () => undefined)
  }

  /**
   * Asks for the backend's pid: the pid in the handshake may be a proxy's. Before the answer no backend is known, so
   * the connection is broken off if the server answers others in the meantime.
   */
  async identify(): Promise<void> {
    const { rows } = await (this as pg.Client).query<{ pid: number }>('select pg_backend_pid() as pid')
    this.#pid = rows[0]!.pid
  }

  /** Rejects with a code, even when the client ends before the server has answered. */
  override connect(...args: never[]): never {
    let asked = false
    const { connection } = this as unknown as { connection: NodeJS.EventEmitter }
    for (const kind of PASSWORD_ASKED) connection.once(kind, () => (asked = true))
    const code = () => (asked && !this.password ? INVALID_PASSWORD : 'ECONNRESET')
    return withCodes(args, code, (all) => super.connect(...(all as [])))
  }

  // One signature for all overloads.
  override query(...args: never[]): never {
    if (!this.#waits) {
      this.#waits = true
      const [question, heard] = [++this.#question, this.#socket.bytesRead]
      this.#timer = setTimeout(() => void this.#watch(question, heard), this.#silentMs)
      this.#timer.unref()
    }
    return withCodes(
      args,
      () => 'ECONNRESET',
      (all) => super.query(...(all as unknown as [string])),
    )
  }

  /** Closes the connection: at once when it waits for an answer, otherwise after pending output is sent. */
  breakOff(): void {
    if (this.#waits) this.#socket.destroy(timedOut('was broken off'))
    else this.#socket.destroySoon()
  }

  #answered(): void {
    this.#waits = false
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  async #watch(question: number, before: number): Promise<void> {
    const over = () => !this.#waits || this.#question !== question
    let [heard, silent] = [before, 0]
    for (;;) {
      const atWork = await this.#atWork()
      if (over()) return
      const { bytesRead } = this.#socket
      silent = atWork || bytesRead !== heard ? 0 : silent + 1
      heard = bytesRead
      if (silent === LOOKS) return this.breakOff()
      await new Promise<void>((resolve) => {
        this.#timer = setTimeout(resolve, silent === 0 ? this.#silentMs : this.#silentMs / 4)
        this.#timer.unref()
      })
      if (over()) return
    }
  }

  /** Whether the server works on the query. A server that refuses new connections counts as working. */
  async #atWork(): Promise<boolean> {
    const limits = { connectionTimeoutMillis: ANSWER_WITHIN_MS, query_timeout: ANSWER_WITHIN_MS }
    // This connection does not keep the process alive.
    const other = new pg.Client({ ...this.#config, ...limits, stream: () => new Socket().unref() })
    other.on('error', () => undefined)
    try {
      await other.connect()
      return (await other.query(AT_WORK, [this.#pid])).rowCount === 1
    } catch (error) {
      return error instanceof pg.DatabaseError
    } finally {
      other.end().catch(() => undefined)
    }
  }
}

const timedOut = (why: string) =>
  Object.assign(new Error(`a connection that was not answered ${why}`), { code: 'ETIMEDOUT' })

const PASSWORD_ASKED = ['authenticationSASL', 'authenticationMD5Password', 'authenticationCleartextPassword'] as const
const INVALID_PASSWORD = '28P01'

/**
 * Adds a code to errors of a client call. An error without a code comes from the client itself and means a lost
 * connection: server errors have a SQLSTATE, system errors a code. `code`: returns the code to add.
 */
export function withCodes(
  args: readonly never[],
  code: () => string,
  call: (args: readonly never[]) => unknown,
): never {
  const coded = <E>(error: E): E =>
    error instanceof Error && error.constructor === Error && !('code' in error)
      ? Object.assign(error, { code: code() })
      : error
  const last = args.at(-1) as unknown
  if (typeof last === 'function') {
    const callback = (error: unknown, ...rest: unknown[]) => last(coded(error), ...rest)
    return call([...args.slice(0, -1), callback as never]) as never
  }
  const answer = call(args)
  return (answer instanceof Promise ? answer.catch((error: unknown) => Promise.reject(coded(error))) : answer) as never
}
