import { LogError } from '../../../domain/log/errors.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { CrashPoint } from '../../../domain/ports/runtime.ts'
import { NEVER, type Process } from '../process.ts'

/** A boundary of a tree's work: a point of the runtime, and the append before or after it. */
export interface Boundary {
  readonly name: CrashPoint
  readonly stream: string
  readonly types: readonly string[]
}

interface Fate {
  appends(stream: string, types: readonly string[]): void
  /** The process reaches a boundary. True: it died there. */
  passes(boundary: Boundary): boolean
  /** Whether the stream is unreadable. */
  isDamaged(stream: string): boolean
}

/** A log from the view of one process. The process dies before or after an append; afterwards no call is answered. */
export function dyingLog(log: EventLog, process: Process, fate: Fate): EventLog {
  return {
    logId: log.logId,
    erases: log.erases,
    floor: () => log.floor(),
    append: async (...args) => {
      const [stream, , batch] = args
      const types = batch.map(({ header }) => header.type)
      fate.appends(stream, types)
      if (fate.passes({ name: 'before_append', stream, types })) return NEVER
      const done = await process.living(() => log.append(...args))
      return fate.passes({ name: 'after_append', stream, types }) ? NEVER : done
    },
    head: (stream) => process.living(() => log.head(stream)),
    read: (...args) => {
      if (fate.isDamaged(args[0])) throw new LogError('LOG_CORRUPT', `${args[0]} is damaged`)
      return living(process, log.read(...args))
    },
    readAll: (...args) => log.readAll(...args),
    subscribe: (...args) => log.subscribe(...args),
    cursor: (event) => log.cursor(event),
    headCursor: () => log.headCursor(),
    streams: (prefix) => log.streams(prefix),
    close: () => log.close(),
  }
}

async function* living<T>(process: Process, pages: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const page of pages) yield await process.living(async () => page)
}
