import type { StatementSync } from 'node:sqlite'
import type { BlobStore, EventLog } from '../../domain/ports/index.ts'
import { Projector } from '../../projections/engine/projector/projector.ts'
import type { Due } from '../../projections/engine/queries/due.ts'
import { dueBefore, nextDue } from '../../projections/engine/queries/due.ts'
import { sqlite } from '../../projections/engine/schema/dialect.ts'
import { migrations } from '../../projections/engine/schema/migrations.ts'
import { specOf, tableNames } from '../../projections/engine/schema/tables.ts'
import { type Connection, connectSqlite } from '../../projections/engine/store/database.ts'
import { SqliteStore } from '../../projections/engine/store/sqlite.ts'
import type { Store } from '../../projections/engine/store/store.ts'
import { Host, Outage, type Scheduler, Violation } from './scheduler.ts'

const KEYS: readonly (readonly [string, readonly string[]])[] = [
  ...tableNames().map((table) => [table, specOf(table).key] as const),
  ['position', ['id']],
  ['streams', ['stream']],
]

/** Tables in a database of this thread's memory, which survives every crash of the processes. */
export class SimulatedTables {
  readonly #scheduler: Scheduler
  readonly #log: (by: Host) => EventLog
  readonly #blobs: BlobStore
  readonly #rate: number
  readonly #connection: Connection
  /** The statement of the next transaction that fails; negative: none. */
  #failing = -1
  /** A transaction was tried since the last check. */
  #moved = false
  host = new Host('tables')
  #boots = 0

  private constructor(
    scheduler: Scheduler,
    log: (by: Host) => EventLog,
    blobs: BlobStore,
    rate: number,
    connection: Connection,
  ) {
    this.#scheduler = scheduler
    this.#log = log
    this.#blobs = blobs
    this.#rate = rate
    this.#connection = connection
  }

  static async open(
    scheduler: Scheduler,
    log: (by: Host) => EventLog,
    blobs: BlobStore,
    rate: number,
  ): Promise<SimulatedTables> {
    const tables = new SimulatedTables(scheduler, log, blobs, rate, await emptyTables())
    tables.boot()
    return tables
  }

  /** Starts the process that writes the tables. It starts again when it ends with an error. */
  boot(): void {
    this.#boots++
    const host = new Host(`tables${this.#boots === 1 ? '' : this.#boots}`)
    this.host = host
    const projector = new Projector({ log: this.#log(host), blobs: this.#blobs, store: this.#store(host) })
    projector.run(new AbortController().signal).catch((error: Error) => {
      if (this.host !== host) return
      this.#scheduler.kill(host)
      this.restart(`the projector stops: ${(error as { code?: string }).code ?? error.message}`)
    })
  }

  /** The process is dead; another one starts some steps later. */
  restart(why: string): void {
    this.#scheduler.add({
      by: SUPERVISOR,
      what: `starts the projector (${why})`,
      run: () => {
        this.boot()
        return ''
      },
    })
  }

  #store(host: Host): Store {
    const { raw, db } = this.#connection
    const prepare = (text: string) => this.#failable(this.#connection.prepare(text), text)
    const store = new SqliteStore({ raw, db, prepare, close: () => undefined })
    const rate = this.#rate
    return {
      keepsEvents: store.keepsEvents,
      progress: () => store.progress(),
      statesOf: (streams) => store.statesOf(streams),
      erasureSeen: (stream, revision) => store.erasureSeen(stream, revision),
      commit: (from, to, batch) => {
        const fails = (roll: number) => roll > 0 && roll <= rate
        return this.#scheduler.call(
          host,
          `writes the tables up to event ${to.events}`,
          async (roll) => {
            this.#failing = fails(roll) && roll % 2 === 1 ? roll % 12 : -1
            try {
              await store.commit(from, to, batch)
            } finally {
              this.#failing = -1
              this.#moved = true
            }
          },
          {
            fault: (roll) =>
              fails(roll) && roll % 2 === 0
                ? { done: roll % 4 === 0, error: new Outage('the database is gone') }
                : null,
          },
        )
      },
      close: async () => undefined,
    }
  }

  /** A statement that writes may meet a full disk. */
  #failable(statement: StatementSync, text: string): StatementSync {
    if (/^select/.test(text)) return statement
    return new Proxy(statement, {
      get: (_, key) => {
        const found = Reflect.get(statement, key) as unknown
        if (typeof found !== 'function') return found
        return (...given: unknown[]) => {
          if (key === 'run' && this.#failing >= 0 && this.#failing-- === 0)
            throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })
          return found.apply(statement, given)
        }
      },
    })
  }

  /** The position that the tables show. */
  get position(): number {
    return Number(this.#connection.prepare('select position from position').get()?.position ?? -1)
  }

  due(at: number, asked: boolean): Promise<Due[]> {
    return dueBefore(this.#connection.db, at, { driveRequested: asked })
  }

  nextDue(at: number, asked: boolean): Promise<number | null> {
    return nextDue(this.#connection.db, at, { driveRequested: asked })
  }

  /** The events of the position are those of the streams' rows. */
  mustAgree(): void {
    if (!this.#moved) return
    this.#moved = false
    const count = (text: string) => Number(this.#connection.prepare(text).get()?.n ?? 0)
    const events = count('select events as n from position')
    const rows = count('select coalesce(sum(revision + 1), 0) as n from streams')
    if (events !== rows)
      throw new Violation('the tables show what their position says', `${rows} events, not ${events}`)
  }

  /** Compares each row with a fold of the log from its beginning. */
  async mustEqual(log: EventLog): Promise<void> {
    const other = await emptyTables()
    try {
      await new Projector({ log, blobs: this.#blobs, store: new SqliteStore(other) }).catchUp()
      for (const [table, key] of KEYS) {
        const text = `select * from "${table}" order by ${key.map((name) => `"${name}"`).join()}`
        const [live, whole] = [this.#connection, other].map(({ raw }) => JSON.stringify(raw.prepare(text).all()))
        if (live !== whole)
          throw new Violation('the tables equal a fold of the log', `${table}: ${difference(live!, whole!)}`)
      }
    } finally {
      release(other)
    }
  }

  /** Whether a row has the text. */
  holds(text: string): boolean {
    const start = text.slice(0, text.indexOf(';') + 1)
    return KEYS.some(([table]) =>
      JSON.stringify(this.#connection.prepare(`select * from "${table}"`).all()).includes(start),
    )
  }

  close(): void {
    release(this.#connection)
  }
}

/** Connections with empty tables. Making the tables takes as long as a whole history. */
const spare: Connection[] = []

async function emptyTables(): Promise<Connection> {
  const kept = spare.pop()
  if (kept !== undefined) return kept
  const connection = connectSqlite(':memory:', 'write')
  for (const step of migrations) await step(connection.db, sqlite)
  return connection
}

function release(connection: Connection): void {
  for (const [table] of KEYS) connection.prepare(`delete from "${table}"`).run()
  spare.push(connection)
}

const SUPERVISOR = new Host('supervisor')

function difference(one: string, other: string): string {
  let at = 0
  while (one[at] === other[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60)
  return `"${around(one)}" instead of "${around(other)}"`
}
