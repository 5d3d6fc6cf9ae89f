import type { Actor } from '../../domain/log/envelope.ts'
import type { RuntimePorts } from '../../domain/runtime/ports.ts'
import { recordAcceptance } from './accept.ts'
import { findLoss, type Witnesses } from './find.ts'
import type { HeadRead, LossGate } from './gate.ts'
import type { Loss } from './loss.ts'

/** What became of an acceptance. */
export interface Accepted {
  readonly loss: Loss
  /** Runs whose streams record it. */
  readonly runs: readonly string[]
}

/** What is known of losses of the log, and how a person accepts one. */
export interface Losses {
  /** The loss that keeps this process from recording; null: none. */
  readonly open: Loss | null
  /** Every stream and position held against what was seen of them; null: nothing is missing. */
  look(): Promise<Loss | null>
  /** Records that a person accepts all that {@link look} finds; null: there is nothing to accept. */
  accept(by: Actor, reason?: string): Promise<Accepted | null>
}

/** What the place where things are kept brings: how its log takes an acceptance, and what follows for its tables. */
export interface LossDoors extends Witnesses {
  /** Reads the head of one stream as the tables saw it, without waiting for other queries; `read` where absent. */
  readonly seenHead?: HeadRead
  readonly gate: LossGate
  accepting(record: () => Promise<readonly string[]>): Promise<readonly string[]>
  /** The tables follow the log again. */
  followed(): Promise<void>
}

export function lossesOf(doors: LossDoors, ports: RuntimePorts): Losses {
  return {
    get open() {
      return doors.gate.loss
    },
    look: () => findLoss(doors, true),
    async accept(by, reason) {
      const loss = await findLoss(doors, true)
      if (loss === null) return null
      const said = { by, ...(reason === undefined ? {} : { reason }) }
      const runs = await doors.accepting(() => recordAcceptance(ports, loss, said))
      await doors.followed()
      doors.gate.loss = null
      return { loss, runs }
    },
  }
}
