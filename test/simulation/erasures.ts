import { ContextStores } from '../../domain/store/runtime/context-stores.ts'
import type { StreamPorts } from '../../domain/stream/runtime/ports.ts'
import { type MemoryBlobs, USER } from '../support/harness.ts'
import type { SimulatedLog } from './log.ts'
import type { Request } from './requests.ts'
import { type Scheduler, Violation } from './scheduler.ts'
import type { SimulatedTables } from './tables.ts'

const STORE = 'notes'
/** A text of this length is stored outside of its event, in characters. */
const LONG = 70_000

interface Variable {
  readonly key: string
  readonly text: string
  state: 'setting' | 'set' | 'erasing' | 'erased'
}

/** Variables that a person sets and erases, and the bytes that are left of an erased one. */
export class SimulatedErasures {
  readonly #scheduler: Scheduler
  readonly #log: SimulatedLog
  readonly #blobs: MemoryBlobs
  readonly #variables: Variable[] = []

  constructor(scheduler: Scheduler, log: SimulatedLog, blobs: MemoryBlobs) {
    this.#scheduler = scheduler
    this.#log = log
    this.#blobs = blobs
  }

  static stores(ports: StreamPorts): ContextStores {
    return new ContextStores({ ...ports, hide: async (value) => value })
  }

  /** A person sets another variable, or erases one. */
  next(which: number): Request {
    const known = this.#variables.filter(({ state }) => state === 'set')
    const old = which % 3 === 0 ? known[which % Math.max(1, known.length)] : undefined
    return old === undefined ? this.#setting(which) : this.#erasing(old)
  }

  #setting(which: number): Request {
    const n = this.#variables.length
    const variable: Variable = {
      key: `k${n}`,
      text: `private-${n};${which % 5 === 1 ? 'x'.repeat(LONG) : ''}`,
      state: 'setting',
    }
    this.#variables.push(variable)
    return {
      what: `set ${variable.key}`,
      send: ({ contexts }) => contexts.open(STORE, USER).set(variable.key, variable.text),
      done: () => {
        variable.state = 'set'
      },
    }
  }

  #erasing(variable: Variable): Request {
    variable.state = 'erasing'
    const why = { code: 'subject_request', reason: 'asked' } as const
    return {
      what: `erase ${variable.key}`,
      send: ({ contexts }) => contexts.erase(STORE, variable.key, why, { by: USER }),
      done: () => {
        variable.state = 'erased'
        void this.#left(variable).then((where) => {
          if (where !== null) this.#scheduler.broken ??= broken(variable, where)
        })
      },
    }
  }

  /** Where the log or the blobs still have a byte of the text. Null: nowhere. */
  async #left({ text }: Variable): Promise<string | null> {
    const mark = text.slice(0, text.indexOf(';') + 1)
    const has = (bytes: Uint8Array | null) => bytes !== null && Buffer.from(bytes).includes(mark)
    for await (const page of this.#log.durable.readAll(null))
      for (const { header, body } of page) if (has(body)) return `${header.stream}@${header.revision}`
    for (const [name, bytes] of this.#blobs.held) if (has(bytes)) return `the blob ${name}`
    return null
  }

  /** After the faults no erased text is in log, blobs or tables, every other one is in the log, and the store verifies. */
  async atEnd(tables: SimulatedTables, stores: ContextStores): Promise<void> {
    if (this.#variables.length === 0) return
    for (const variable of this.#variables) {
      const where = await this.#left(variable)
      if (variable.state === 'erased') {
        if (where !== null) throw broken(variable, where)
        if (tables.holds(variable.text)) throw broken(variable, 'the tables')
      } else if (where === null) throw new Violation('an acknowledged variable is in the log', variable.key)
    }
    const { ok, problems } = await stores.verify(STORE)
    if (!ok) throw new Violation('every stream verifies', JSON.stringify(problems[0]))
  }
}

const broken = ({ key }: Variable, where: string) =>
  new Violation('no byte of an erased text is left', `${key} is in ${where}`)
