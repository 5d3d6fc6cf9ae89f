import { LogError } from '../../../domain/log/errors.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { CrashPoint } from '../../../domain/ports/runtime.ts'
import { NEVER } from '../process.ts'

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

/** A log that its process can only use until it dies, before or after an append. `log`: as the living process sees it. */
export function dyingLog(log: EventLog, fate: Fate): EventLog {
  return {
    ...log,
    append: async (...args) => {
      const [stream, , batch] = args
      const types = batch.map(({ header }) => header.type)
      fate.appends(stream, types)
      if (fate.passes({ name: 'before_append', stream, types })) return NEVER
      const done = await log.append(...args)
      return fate.passes({ name: 'after_append', stream, types }) ? NEVER : done
    },
    read: (...args) => {
      if (fate.isDamaged(args[0])) throw new LogError('LOG_CORRUPT', `${args[0]} is damaged`)
      return log.read(...args)
    },
  }
}
