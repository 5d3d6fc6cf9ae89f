import { echo } from '../../../domain/agent/issues.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import type { RuntimePorts } from '../../../domain/runtime/ports.ts'
import type { Loss } from '../../app/losses/loss.ts'
import { Problem } from '../../app/problem.ts'
import { findLoss, type Witnesses } from './find.ts'
import type { HeadRead, LossGate } from './gate.ts'
import { type Acceptance, recordAcceptance } from './record-acceptance.ts'

/** What became of an acceptance. */
export interface Accepted extends Acceptance {
  readonly loss: Loss
}

/** What is known of losses of the log, and how a person accepts one. */
export interface Losses {
  /** The loss that keeps this process from recording; null: none. */
  readonly open: Loss | null
  /** Every stream and position held against what was seen of them; null: nothing is missing. */
  look(): Promise<Loss | null>
  /**
   * Records that a person accepts the loss of this id, which {@link look} has shown; null: there is nothing to accept. Rejects
   * with 409 `LOSS_CHANGED` where another one is found by now.
   */
  accept(id: string, by: Actor, reason?: string): Promise<Accepted | null>
}

/** What the place where things are kept brings: how its log takes an acceptance, and what follows for its tables. */
export interface LossServices extends Witnesses {
  /** Reads the head of one stream as the tables saw it, without waiting for other queries; `read` where absent. */
  readonly seenHead?: HeadRead
  readonly gate: LossGate
  accepting(record: () => Promise<Acceptance>): Promise<Acceptance>
  /** The tables follow the log again. */
  followed(): Promise<void>
}

export function lossesOf(services: LossServices, ports: RuntimePorts): Losses {
  return {
    get open() {
      return services.gate.loss
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
      await services.followed()
      services.gate.loss = null
      return { loss, ...done }
    },
  }
}
