import type { Kysely } from 'kysely'
import { acceptedLosses } from '../../../../domain/agent/runtime/losses.ts'
import { type LogError, shortened } from '../../../../domain/log/errors.ts'
import { agentStream } from '../../../../domain/log/ids.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import { replaced } from '../../../../domain/stream/runtime/replaced.ts'
import { type Answer, type Database, seenHead } from '../../../../projections/index.ts'
import { type Loss, lossText } from '../../../operations/losses/loss.ts'
import { Problem } from '../../../operations/problem.ts'
import { holdsEvent } from './find.ts'
import { stillUnrecorded } from './unreadable.ts'

/** A log that takes no append while its loss is open. */
export class LossGate {
  /** Null: there is none, or it was accepted. */
  loss: Loss | null
  /** Set where this process must end, because its memory belongs to a state of the log that is gone. */
  over: LogError | null = null
  /** The log for all who record. Reads are those of the log itself. */
  readonly log: EventLog
  /** A second look at the loss, for which appends wait; null: there is none under way. */
  #confirming: Promise<unknown> | null = null

  /** `mayLose`: a loss may also be found later. */
  constructor(log: EventLog, loss: Loss | null, { mayLose = false } = {}) {
    this.loss = loss
    this.log = loss === null && !mayLose ? log : this.#guarded(log)
  }

  /** Why the log takes no append; null: it takes them. */
  get refusal(): LogError | null {
    return this.over ?? (this.loss === null ? null : shortened(lossText(this.loss)))
  }

  /** Holds appends back for a loss until `again`, the second look, has ended. The loss stays where that one finds one. */
  async confirm(loss: Loss, again: () => Promise<Loss | null>): Promise<void> {
    this.loss = loss
    const confirming = again()
      .catch(() => loss)
      .then((found) => {
        this.loss = found
        this.#confirming = null
      })
    this.#confirming = confirming
    await confirming
  }

  #guarded(log: EventLog): EventLog {
    return replaced(log, 'append', (...asked) => {
      if (this.#confirming !== null) return this.#confirming.then(() => this.log.append(...asked))
      const { refusal } = this
      return refusal === null ? log.append(...asked) : Promise.reject(refusal)
    })
  }
}

type Seen = Awaited<ReturnType<typeof seenHead>>

/** Reads what the tables have seen of one stream. */
export type HeadRead = (query: (db: Kysely<Database>) => Promise<Seen>) => Promise<Answer<Seen>>

/**
 * Whether a stream still holds what the tables have seen of it: before its run is driven or written to. Rejects with
 * `LOG_SHORTENED`; with `RUN_LOST` where a person has accepted that the whole stream is gone: a repeated start must not do
 * anew what that run had done; and with `LOSS_NOT_RECORDED` where the stream could not be read when a loss was accepted.
 */
export async function mustBeWhole(
  { log, read }: { readonly log: EventLog; readonly read: HeadRead | null },
  agentId: string,
): Promise<void> {
  const stream = agentStream(agentId)
  const losses = await acceptedLosses(log)
  const isLost = losses.some(({ vanished }) => vanished.some((one) => one.stream === stream))
  if (isLost && (await log.head(stream)) === null) {
    const why = `the events of ${agentId} were lost, which was accepted; start a new run, without the key of that one`
    throw new Problem('RUN_LOST', why)
  }
  const named = losses.filter(({ unreadable = [] }) => unreadable.some((one) => one.stream === stream))
  const left = (await stillUnrecorded(log, named)).find((one) => one.stream === stream)
  if (left !== undefined) {
    const why = `${agentId} could not be read (${left.code}) when a loss of the log was accepted, so it records none`
    const then = 'mend the cause, then accept the loss for it with "keepup repair --accept-loss"'
    throw new Problem('LOSS_NOT_RECORDED', `${why}; ${then}`)
  }
  if (read === null) return
  const { position, data } = await read((db) => seenHead(db, agentStream(agentId)))
  if (data === undefined || position?.logId !== log.logId || (await holdsEvent(log, data))) return
  throw shortened(`the log has lost events of ${agentId}: the tables have seen revision ${data.revision} of it`)
}
