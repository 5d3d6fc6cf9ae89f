import { shortened } from '../../../../domain/log/errors.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import { lossText } from '../../../operations/losses/loss.ts'
import type { Tables } from '../../tables/table-answers.ts'
import type { LossGate } from './loss-gate.ts'

/** Tables that are replaced when an open loss of the log is accepted. */
export class LateTables implements Tables {
  #now: Tables
  #seen: Tables['read']

  /** `seen`: reads with the tables' real position, if answers show a different one. */
  constructor(first: Tables, seen: Tables['read'] = (query) => first.read(query)) {
    this.#now = first
    this.#seen = seen
  }

  /** Replaces the tables. `seen`: see the constructor. */
  become(next: Tables, seen: Tables['read'] = (query) => next.read(query)): void {
    this.#now = next
    this.#seen = seen
  }

  /** Like {@link read}, with the real position of the tables. */
  seen: Tables['read'] = (query) => this.#seen(query)
  read: Tables['read'] = (query) => this.#now.read(query)
  readApart: Tables['read'] = (query) => this.#now.readApart?.(query) ?? this.#now.read(query)
  caughtUpTo: Tables['caughtUpTo'] = (cursor, signal) => this.#now.caughtUpTo(cursor, signal)
  rebuild: Tables['rebuild'] = (how) => this.#now.rebuild(how)
  rebuilding = () => this.#now.rebuilding?.() ?? null
  release: Tables['release'] = (agentId) => this.#now.release(agentId)
  answers = async (): Promise<void> => {
    await (this.#now.answers?.() ?? this.#now.read(async () => null))
  }
}

/**
 * The tables found next to a log that has lost its end. They are evidence of the loss and do not change. Answers carry
 * the position of the log's head, from which readers can continue. `apart`: reads like {@link Tables.readApart}.
 */
export const witnessTables = (
  seen: Tables['read'],
  log: EventLog,
  { loss }: LossGate,
  apart: Tables['read'] = seen,
): Tables => {
  const refuse = () => Promise.reject(shortened(loss === null ? 'the log has lost its end' : lossText(loss)))
  const shown =
    (read: Tables['read']): Tables['read'] =>
    async (query) => ({ position: await log.headCursor(), data: (await read(query)).data })
  return {
    read: shown(seen),
    readApart: shown(apart),
    caughtUpTo: async () => {},
    rebuild: refuse,
    release: refuse,
  }
}
