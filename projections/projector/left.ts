import { agent } from '../../domain/agent/decisions/aggregate.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import type { Header } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import { Residues } from '../../domain/runtime/stream/residues.ts'
import type { Poison } from './decode.ts'

/** Streams that were erased from are read one after the other, or a few side by side. */
const STREAMS = 8

/** What erasures have left of bodies, of the streams that were asked for last: their pages come one by one. */
export class Left {
  readonly #stores: { readonly log: EventLog; readonly blobs: BlobStore }
  readonly #streams = new Map<string, Residues<AgentEvent>>()
  constructor(stores: { readonly log: EventLog; readonly blobs: BlobStore }) {
    this.#stores = stores
  }

  /** What is left of an erased event; null: nothing. What cannot be read is the event's fault and is told. */
  async of(header: Header): Promise<AgentEvent | null | { readonly poison: Poison }> {
    const { stream } = header
    const residues = this.#streams.get(stream) ?? new Residues<AgentEvent>(this.#stores, agent, stream)
    this.#streams.delete(stream)
    this.#streams.set(stream, residues)
    if (this.#streams.size > STREAMS) this.#streams.delete(this.#streams.keys().next().value!)
    try {
      return await residues.of(header)
    } catch (error) {
      if (!(error instanceof LogError && error.code in POISON)) throw error
      return { poison: { code: POISON[error.code as keyof typeof POISON], message: error.message } }
    }
  }
}

const POISON = {
  UNKNOWN_EVENT: 'NEWER_VERSION',
  LOG_NEWER: 'NEWER_VERSION',
  LOG_CORRUPT: 'SHAPE',
  LOG_FOREIGN: 'UNREADABLE',
} as const
