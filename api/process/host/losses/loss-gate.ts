import type { Kysely } from 'kysely'
import { readAcceptedLosses } from '../../../../domain/agent/runtime/losses.ts'
import { type LogError, shortened } from '../../../../domain/log/errors.ts'
import { agentStream } from '../../../../domain/log/ids.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import { replaced } from '../../../../domain/stream/runtime/replace-member.ts'
import { type Answer, type Database, seenHead } from '../../../../projections/index.ts'
import { type Loss, lossText } from '../../../operations/losses/loss.ts'
import { Problem } from '../../../operations/problem.ts'
import { holdsEvent } from './find-loss.ts'
import { stillUnrecorded } from './unreadable.ts'

/** A log that refuses appends while it has an open loss. */
export class LossGate {
  /** Null: there is no loss, or it was accepted. */
  loss: Loss | null
  /** Set if this process must end, because its memory contains events that the log has lost. */
  over: LogError | null = null
  /** The log for writers. Reads go to the underlying log. */
  readonly log: EventLog
  /** A running second check of the loss, which appends wait for. Null: none. */
  #confirming: Promise<unknown> | null = null

  /** `mayLose`: a loss may also be detected later. */
  constructor(log: EventLog, loss: Loss | null, { mayLose = false } = {}) {
    this.loss = loss
    this.log = loss === null && !mayLose ? log : this.#guarded(log)
  }

  /** Why the log refuses appends. Null: it accepts them. */
  get refusal(): LogError | null {
    return this.over ?? (this.loss === null ? null : shortened(lossText(this.loss)))
  }

  /**
   * Delays appends until `again`, the second check of a loss, has ended. The loss stays open if the check finds one or
   * fails.
   */
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

/** Reads the head of one stream from the tables. */
export type HeadRead = (query: (db: Kysely<Database>) => Promise<Seen>) => Promise<Answer<Seen>>

/**
 * Checks, before a run is driven or written to, that its stream still contains everything the tables have seen. Rejects
 * with `LOG_SHORTENED` otherwise; with `RUN_LOST` if a person accepted the loss of the whole stream, because a repeated
 * start must not repeat the run's actions; and with `LOSS_NOT_RECORDED` if the stream was unreadable when a loss was
 * accepted.
 */
export async function mustBeWhole(
  { log, read }: { readonly log: EventLog; readonly read: HeadRead | null },
  agentId: string,
): Promise<void> {
  const stream = agentStream(agentId)
  const losses = await readAcceptedLosses(log)
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
