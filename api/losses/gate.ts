import type { Kysely } from 'kysely'
import { LogError } from '../../domain/log/errors.ts'
import { agentStream } from '../../domain/log/ids.ts'
import type { EventLog } from '../../domain/ports.ts'
import { acceptedLosses } from '../../domain/runtime/losses.ts'
import { type Answer, type Database, seenHead } from '../../projections/index.ts'
import { Problem } from '../problem.ts'
import { holdsEvent } from './find.ts'
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

type Seen = Awaited<ReturnType<typeof seenHead>>

/** Reads what the tables have seen of one stream. */
export type HeadRead = (query: (db: Kysely<Database>) => Promise<Seen>) => Promise<Answer<Seen>>

/**
 * Whether a stream still holds what the tables have seen of it: before its run is driven or written to. Rejects with
 * `LOG_SHORTENED`, and with `RUN_LOST` where a person has accepted that the whole stream is gone: a repeated start must not do
 * anew what that run had done.
 */
export async function mustBeWhole(
  { log, read }: { readonly log: EventLog; readonly read: HeadRead | null },
  agentId: string,
): Promise<void> {
  if ((await log.head(agentStream(agentId))) === null && (await isLost(log, agentId))) {
    const why = `the events of ${agentId} were lost, which was accepted; start a new run, without the key of that one`
    throw new Problem(409, 'RUN_LOST', why)
  }
  if (read === null) return
  const { position, data } = await read((db) => seenHead(db, agentStream(agentId)))
  if (data === undefined || position?.logId !== log.logId || (await holdsEvent(log, data))) return
  throw shortened(`the log has lost events of ${agentId}: the tables have seen revision ${data.revision} of it`)
}

const isLost = async (log: EventLog, agentId: string): Promise<boolean> =>
  (await acceptedLosses(log)).some(({ vanished }) => vanished.some(({ stream }) => stream === agentStream(agentId)))
