import { echo } from '../../../../domain/log/issues.ts'
import type { RuntimePorts } from '../../../../domain/ports/runtime.ts'
import type { Acceptance, Losses } from '../../../operations/losses/losses.ts'
import { Problem } from '../../../operations/problem.ts'
import { findLoss, type Witnesses } from './find-loss.ts'
import type { HeadRead, LossGate } from './loss-gate.ts'
import { recordAcceptance } from './record-acceptance.ts'

/**
 * The storage-specific part of accepting a loss: how the log records the acceptance, and the consequences for the
 * tables.
 */
export interface LossServices extends Witnesses {
  /** Reads the head of one stream from the tables without waiting for other queries. Absent: use `read`. */
  readonly seenHead?: HeadRead
  readonly gate: LossGate
  accepting(record: () => Promise<Acceptance>): Promise<Acceptance>
  /** Makes the tables follow the log again. */
  followed(): Promise<void>
}

export function lossesOf(services: LossServices, ports: RuntimePorts): Losses {
  return {
    get open() {
      return services.gate.loss
    },
    get refusal() {
      return services.gate.refusal
    },
    look: () => findLoss(services, true),
    async accept(id, by, reason) {
      const loss = await findLoss(services, true)
      if (loss === null) return null
      if (loss.id !== id) {
        const why = `the loss that was found is ${loss.id}, not ${echo(id)}, so nothing was accepted`
        throw new Problem('LOSS_CHANGED', `${why}; look again with GET /v1/losses?all=true or "keepup repair"`)
      }
      const said = { by, ...(reason === undefined ? {} : { reason }) }
      const done = await services.accepting(() => recordAcceptance(ports, loss, said))
      await ports.crashPoint?.('loss_accepted')
      await services.followed()
      services.gate.loss = null
      return { loss, ...done }
    },
  }
}
