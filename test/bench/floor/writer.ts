import { once } from 'node:events'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'

/** The rows of one append, as they lie in our log. */
export interface Append {
  readonly stream: number
  readonly events: readonly SQLOutputValue[][]
  readonly bodies: readonly SQLOutputValue[][]
}

export type ToFloor = { readonly each: readonly Append[] } | { readonly one: Append } | 'close'
export type FromFloor = { readonly ms: number; readonly cpuMs: number } | { readonly done: number }

/** The cost of a measured stretch of work. */
export interface Took {
  readonly ms: number
  readonly cpuMs: number
}

/** The bare writer that figures of the log are held against, in a thread of its own. */
export class BareWriter {
  readonly #worker: Worker

  constructor(path: string) {
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { path }, execArgv: [] })
  }

  /** Writes appends one after the other, one commit each; nothing crosses threads meanwhile. */
  async each(appends: readonly Append[]): Promise<Took> {
    const answer = once(this.#worker, 'message')
    this.#worker.postMessage({ each: appends } satisfies ToFloor)
    const [took] = (await answer) as [Took]
    return took
  }

  /** Writes streams at once, `atOnce` of them, each append when the one before it is durable: group commit. */
  async streams(streams: readonly (readonly Append[])[], atOnce: number): Promise<Took> {
    const waiting: (() => void)[] = []
    const answered = ({ done }: { done: number }) => {
      for (const resolve of waiting.splice(0, done)) resolve()
    }
    this.#worker.on('message', answered)
    const queue = [...streams]
    const cpu = process.cpuUsage()
    const from = performance.now()
    const loop = async () => {
      for (let stream = queue.shift(); stream !== undefined; stream = queue.shift()) {
        for (const one of stream) {
          await new Promise<void>((resolve) => {
            waiting.push(resolve)
            this.#worker.postMessage({ one } satisfies ToFloor)
          })
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, loop))
    const ms = performance.now() - from
    const { user, system } = process.cpuUsage(cpu)
    this.#worker.off('message', answered)
    return { ms, cpuMs: (user + system) / 1000 }
  }

  async close(): Promise<void> {
    const ended = once(this.#worker, 'exit')
    this.#worker.postMessage('close' satisfies ToFloor)
    await ended
  }
}

/** The appends after a position of a log's file: neighbouring rows of one stream and command are one append. */
export function appendsAfter(file: string, position: number): { appends: Append[]; last: number } {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = (sql: string) => {
      const statement = db.prepare(sql)
      statement.setReturnArrays(true)
      return statement.all(position) as unknown as SQLOutputValue[][]
    }
    const events = rows('SELECT * FROM events WHERE position > ? ORDER BY position')
    const bodies = rows('SELECT * FROM bodies WHERE position > ? ORDER BY position')
    const appends: { stream: number; command: unknown; events: SQLOutputValue[][]; bodies: SQLOutputValue[][] }[] = []
    let at = 0
    for (const event of events) {
      const [, stream, command] = [event[0], Number(event[1]), event[9]]
      let append = appends.at(-1)
      if (append?.stream !== stream || append.command !== command) {
        append = { stream, command, events: [], bodies: [] }
        appends.push(append)
      }
      append.events.push(event)
      if (bodies[at]?.[0] === event[0]) append.bodies.push(bodies[at++]!)
    }
    return { appends, last: Number(events.at(-1)?.[0] ?? position) }
  } finally {
    db.close()
  }
}
