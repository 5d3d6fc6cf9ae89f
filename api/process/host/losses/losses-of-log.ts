import { readAcceptedLosses } from '../../../../domain/agent/runtime/losses.ts'
import { echo } from '../../../../domain/log/issues.ts'
import { ifProofError } from '../../../../domain/log/proof/proof-error.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import type { TreeStore } from '../../../../domain/ports/proof.ts'
import type { RuntimePorts } from '../../../../domain/ports/runtime.ts'
import { keptLeaves } from '../../../../domain/proof/runtime/kept-leaves.ts'
import type { Acceptance, Losses } from '../../../operations/losses/losses.ts'
import { omitUndefined } from '../../../operations/omit-undefined.ts'
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
  /** Null: it cannot be opened. */
  readonly tree: TreeStore | null
  accepting(record: () => Promise<Acceptance>): Promise<Acceptance>
  /** Makes the tables follow the log again. */
  followed(): Promise<void>
}

export function lossesOf(services: LossServices, ports: RuntimePorts): Losses {
  const { log, tree } = services
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
      const kept = tree === null ? undefined : await keptEvents(log, tree)
      const done = await services.accepting(async () => {
        const recorded = await recordAcceptance(ports, loss, { by, ...omitUndefined({ reason, kept }) })
        // The tree knows later events, so it would tell of the loss again.
        await tree?.clear()
        return recorded
      })
      await ports.crashPoint?.('loss_accepted')
      await services.followed()
      services.gate.loss = null
      return { loss, ...done }
    },
  }
}

/**
 * The number of events of before the loss that the log has. The last acceptance knows it if that acceptance removed the
 * tree and its process ended before the tables followed. Undefined: not known.
 */
async function keptEvents(log: EventLog, tree: TreeStore): Promise<number | undefined> {
  const stored = await tree.load().catch(ifProofError)
  return stored === null ? (await readAcceptedLosses(log)).at(-1)?.kept : keptLeaves(log, tree)
}
