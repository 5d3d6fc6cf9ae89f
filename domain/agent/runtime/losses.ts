import { isStreamDamage } from '../../log/damage.ts'
import type { Actor, RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { LOG_META } from '../../log/ids.ts'
import { type LogLoss, lossIn, sealLoss } from '../../log/loss/loss.ts'
import type { EventLog, ReadOptions } from '../../ports/index.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import { append } from '../../stream/runtime/append.ts'
import { requestRetry } from '../../stream/runtime/append-retry.ts'
import { damageIn } from '../../stream/runtime/damage.ts'
import type { BodyOf } from '../events/events.ts'
import { mayOwe } from '../state/courier.ts'
import { isFinished } from '../state/state.ts'
import { AgentMailbox } from './mailbox.ts'

interface About {
  readonly by: Actor
  readonly id: string
  /** Records the loss only if the agent has not ended. */
  readonly unfinished?: boolean
}

/** The result of an acceptance in one stream. `unreadable`: the error code that prevents folding. */
export type StreamAccepted = 'recorded' | 'finished' | { readonly unreadable: string }

/**
 * Records that a person accepts the loss of a stream's end, once per `id`. Rejects if the log or blobs do not answer.
 */
export async function recordAcceptedLoss(
  ports: RuntimePorts,
  agentId: string,
  loss: BodyOf<'loss_accepted'>,
  { by, id, unfinished = false }: About,
): Promise<StreamAccepted> {
  const mailbox = new AgentMailbox(agentId, ports)
  try {
    await mailbox.refresh()
  } catch (error) {
    const unreadable = damageIn(error)
    if (unreadable === null) throw error
    return { unreadable }
  }
  const { state } = mailbox
  // An agent that can create obligations may still have undelivered ones after its end, under reused revisions.
  if (unfinished && state !== null && isFinished(state) && !mayOwe(state.spec)) return 'finished'
  await mailbox.submit({ kind: 'accept_loss', loss }, { by, commandId: `loss:${id}` }, { fact: false })
  return 'recorded'
}

/** Records an accepted loss in `log-meta`, once per `id`. */
export async function acceptLogLoss(
  ports: Pick<RuntimePorts, 'log' | 'clock' | 'random' | 'requestLimitMs'>,
  loss: LogLoss,
  by: Actor,
): Promise<void> {
  const { log, clock, random } = ports
  const retry = requestRetry(ports)
  for (;;) {
    const head = await log.head(LOG_META)
    if (head === null) throw new Error(`the log has no ${LOG_META}`)
    if ((await readAcceptedLosses(log)).some(({ id }) => id === loss.id)) return
    const now = Math.max(clock.now(), head.timestamp, log.floor())
    const event = sealLoss(head, loss, { by, salt: random.bytes(16), timestamp: new Date(now).toISOString() })
    try {
      await retry.once(() => append(ports, LOG_META, head.revision, [event], retry))
      return
    } catch (error) {
      // Another acceptance was recorded first, or the log already contains a later timestamp.
      if (!(error instanceof LogError && error.code === 'CONFLICT')) throw error
    }
  }
}

export async function readAcceptedLosses(log: EventLog): Promise<readonly LogLoss[]> {
  return (await readLossEvents(log)).map(({ loss }) => loss)
}

/**
 * The readable events of `log-meta` that record an accepted loss. Damage of this one stream must not stop every run.
 */
export async function readLossEvents(
  log: EventLog,
): Promise<{ readonly event: RecordedEvent; readonly loss: LogLoss }[]> {
  const read = async (options: ReadOptions) => (await Array.fromAsync(log.read(LOG_META, options))).flat()
  const events = await read({ from: 1 }).catch((error: unknown) => {
    if (!isStreamDamage(error)) throw error
    return read({ from: 1, onDamage: () => undefined })
  })
  return events.flatMap((event) => {
    const loss = lossIn(event)
    return loss === null ? [] : [{ event, loss }]
  })
}
