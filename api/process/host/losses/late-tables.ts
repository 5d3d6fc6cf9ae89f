import { shortened } from '../../../../domain/log/errors.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import { lossText } from '../../../operations/losses/loss.ts'
import type { Tables } from '../table-answers.ts'
import type { LossGate } from './gate.ts'

/** Tables that others take the place of, once an open loss of the log is accepted. */
export class LateTables implements Tables {
  #now: Tables
  #seen: Tables['read']

  /** `seen`: reads that tell how far the tables themselves have come, where answers do not. */
  constructor(first: Tables, seen: Tables['read'] = (query) => first.read(query)) {
    this.#now = first
    this.#seen = seen
  }

  /** `seen`: as for the constructor. */
  become(next: Tables, seen: Tables['read'] = (query) => next.read(query)): void {
    this.#now = next
    this.#seen = seen
  }

  /** As {@link read}, with the position that the tables themselves have. */
  seen: Tables['read'] = (query) => this.#seen(query)
  read: Tables['read'] = (query) => this.#now.read(query)
  caughtUpTo: Tables['caughtUpTo'] = (cursor, signal) => this.#now.caughtUpTo(cursor, signal)
  rebuild: Tables['rebuild'] = (how) => this.#now.rebuild(how)
  release: Tables['release'] = (agentId) => this.#now.release(agentId)
  answers = async (): Promise<void> => {
    await (this.#now.answers?.() ?? this.#now.read(async () => null))
  }
}

/**
 * Tables as they were found beside a log that has lost its end: the witness of the loss, which is not moved. Answers bear the
 * position of what the log holds, from which readers can go on.
 */
export const witnessTables = (seen: Tables['read'], log: EventLog, { loss }: LossGate): Tables => {
  const refuse = () => Promise.reject(shortened(loss === null ? 'the log has lost its end' : lossText(loss)))
  return {
    read: async (query) => ({ position: await log.headCursor(), data: (await seen(query)).data }),
    caughtUpTo: async () => {},
    rebuild: refuse,
    release: refuse,
  }
}
