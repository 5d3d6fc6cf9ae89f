import { Socket } from 'node:net'
import pg from 'pg'

/** How long asking the server about a connection may take, ms. */
const ANSWER_WITHIN_MS = 10_000
/** A connection is silent when the server has said so often in a row that it is not at work for it. */
const LOOKS = 2
/**
 * Sessions that work, or wait for a lock; not those that wait for their client, be it in the middle of a statement.
 * `disabled`: the server keeps no count of who is at work (track_activities), but still of who waits.
 */
const AT_WORK = `select from pg_stat_activity
  where pid = $1 and state in ('active', 'disabled') and wait_event_type is distinct from 'Client'`

/**
 * A connection that cannot be silent for ever. A proxy, a firewall or a host that died may leave it open and answer nothing;
 * a time limit would take every long statement for that. So what is not answered for `silentMs` is asked after on another
 * connection, and this one is broken off where the server is not at it or is not there: `ETIMEDOUT`, as a lost one.
 */
export class WatchedClient extends pg.Client {
  readonly #config: pg.ClientConfig
  readonly #silentMs: number
  readonly #socket: Socket
  #pid: number | null = null
  #timer: NodeJS.Timeout | null = null
  /** Grows with each question; what is watched is over when it has. */
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
    // The user of a broken connection gets the error; an idle one may break.
    this.on('error', () => undefined)
  }

  /**
   * Asks who serves it: what the client is told at its start may be a proxy's own number. Until then no backend is known
   * to work for it, so that it is broken off where others are answered in the meantime.
   */
  async identify(): Promise<void> {
    const { rows } = await (this as pg.Client).query<{ pid: number }>('select pg_backend_pid() as pid')
    this.#pid = rows[0]!.pid
  }

  /** Rejects with a code, also where the client ends before the server has said anything. */
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

  /** Ends it at once where it waits for an answer, else when what was said is on its way. */
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

  /** Whether the server works on the query, as far as can be learnt; a server that refuses new connections exists. */
  async #atWork(): Promise<boolean> {
    const limits = { connectionTimeoutMillis: ANSWER_WITHIN_MS, query_timeout: ANSWER_WITHIN_MS }
    // The process may end while this connection is open.
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
 * A call of the client whose failures bear a code. An error without one is the client's own and says that it has no
 * connection: all that the server says bears a SQLSTATE, and all that the system says its code. `code`: the one to give.
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
