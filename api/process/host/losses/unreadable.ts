import { isStreamDamage } from '../../../../domain/log/damage.ts'
import type { LogLoss } from '../../../../domain/log/loss/loss.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import type { Unreadable } from '../../../operations/losses/loss.ts'

/** Streams that were unreadable when a loss was accepted and do not record it yet. */
export async function stillUnrecorded(log: EventLog, losses: readonly LogLoss[]): Promise<readonly Unreadable[]> {
  const latest = new Map(losses.flatMap(({ unreadable = [] }) => unreadable.map((one) => [one.stream, one])))
  const left: Unreadable[] = []
  for (const one of latest.values()) if (!(await recordsSince(log, one))) left.push(one)
  return left
}

async function recordsSince(log: EventLog, { stream, revision }: Unreadable): Promise<boolean> {
  try {
    for await (const page of log.read(stream, { from: (revision ?? -1) + 1, bodies: false }))
      if (page.some(({ header }) => header.type === 'loss_accepted')) return true
  } catch (error) {
    if (!isStreamDamage(error)) throw error
  }
  return false
}
