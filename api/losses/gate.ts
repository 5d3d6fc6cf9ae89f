import { LogError } from '../../domain/log/errors.ts'
import { agentStream } from '../../domain/log/ids.ts'
import type { EventLog } from '../../domain/ports.ts'
import { seenHead } from '../../projections/index.ts'
import { holdsEvent, type Witnesses } from './find.ts'
import { type Loss, lossText } from './loss.ts'

/** What a request meets that a lost end of the log keeps from being recorded. */
export const shortened = (what: string): LogError =>
  new LogError(
    'LOG_SHORTENED',
    `${what}; it can be read, but nothing is recorded and no run goes on. Look with "keepup repair", then restore a backup ` +
      'of the log, or accept the loss with "keepup repair --accept-loss"',
  )

/** A log that takes no append while its loss is open. */
export class LossGate {
  /** Null: there is none, or it was accepted. */
  loss: Loss | null
  /** The log for all who record. Reads are those of the log itself. */
  readonly log: EventLog

  constructor(log: EventLog, loss: Loss | null) {
    this.loss = loss
    this.log = loss === null ? log : this.#guarded(log)
  }

  #guarded(log: EventLog): EventLog {
    const append: EventLog['append'] = (...asked) => {
      if (this.loss !== null) return Promise.reject(shortened(lossText(this.loss)))
      return log.append(...asked)
    }
    const get = (_: EventLog, name: string | symbol): unknown => {
      if (name === 'append') return append
      const found: unknown = Reflect.get(log, name)
      return typeof found === 'function' ? found.bind(log) : found
    }
    return new Proxy(log, { get })
  }
}

/** Whether a stream still holds what the tables have seen of it: before its run is driven. Rejects with `LOG_SHORTENED`. */
export async function mustBeWhole({ log, read }: Pick<Witnesses, 'log' | 'read'>, agentId: string): Promise<void> {
  if (read === null) return
  const { position, data } = await read((db) => seenHead(db, agentStream(agentId)))
  if (data === undefined || position?.logId !== log.logId || (await holdsEvent(log, data))) return
  throw shortened(`the log has lost events of ${agentId}: the tables have seen revision ${data.revision} of it`)
}
