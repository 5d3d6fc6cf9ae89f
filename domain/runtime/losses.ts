import type { BodyOf } from '../agent/events/events.ts'
import type { Actor } from '../log/envelope.ts'
import { LogError } from '../log/errors.ts'
import { LOG_META } from '../log/ids.ts'
import { type LogLoss, lossIn, sealLoss } from '../log/loss.ts'
import { append } from './append.ts'
import { Mailbox } from './mailbox.ts'
import type { RuntimePorts } from './ports.ts'

/**
 * Records in an agent's stream that a person accepts that it has lost its end; once for each `id` of a loss. Rejects with
 * CommandRejected or LogError.
 */
export async function acceptLoss(
  ports: RuntimePorts,
  agentId: string,
  loss: BodyOf<'loss_accepted'>,
  { by, id }: { readonly by: Actor; readonly id: string },
): Promise<void> {
  const mailbox = new Mailbox(agentId, ports)
  await mailbox.submit({ kind: 'accept_loss', loss }, { by, commandId: `loss:${id}` }, { fact: false })
}

/** Records an accepted loss in `log-meta`, once for each `id` of a loss. */
export async function acceptLogLoss(
  { log, clock, random }: Pick<RuntimePorts, 'log' | 'clock' | 'random'>,
  loss: LogLoss,
  by: Actor,
): Promise<void> {
  for (;;) {
    const head = await log.head(LOG_META)
    if (head === null) throw new Error(`the log has no ${LOG_META}`)
    if ((await acceptedLosses(log)).some(({ id }) => id === loss.id)) return
    const now = Math.max(clock.now(), head.timestamp, log.floor())
    const event = sealLoss(head, loss, { by, salt: random.bytes(16), timestamp: new Date(now).toISOString() })
    try {
      await append({ log, clock }, LOG_META, head.revision, [event], { fact: false })
      return
    } catch (error) {
      // Another acceptance was recorded first, or the log has gone past this time.
      if (!(error instanceof LogError && error.code === 'CONFLICT')) throw error
    }
  }
}

/** The losses that `log-meta` records as accepted. */
export async function acceptedLosses(log: RuntimePorts['log']): Promise<readonly LogLoss[]> {
  const found: LogLoss[] = []
  for await (const page of log.read(LOG_META, { from: 1 })) {
    for (const event of page) {
      const loss = lossIn(event)
      if (loss !== null) found.push(loss)
    }
  }
  return found
}
