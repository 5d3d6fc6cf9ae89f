import type { DocumentState } from '../../document/stream/state.ts'
import { canonicalText } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import { idOf } from '../../log/owner.ts'
import type { SnapshotStore } from '../../ports.ts'
import type { StreamPorts } from '../stream/ports.ts'

/** A snapshot is kept about every so many updates. */
export const REPLICA_EVERY = 1000

/** Raise it where the kept form changes. */
const FORM = 1

/** A replica with the state of the fold at its revision. */
export interface KeptReplica {
  readonly revision: number
  readonly state: DocumentState
  readonly bytes: Uint8Array
}

/**
 * Snapshots of replicas, so that an opening does not import every update. A cache: the reader holds the state to the digest in
 * the log, and the replica to the state's frontier.
 */
export class ReplicaCache {
  readonly #store: SnapshotStore | undefined
  readonly #warn: StreamPorts['warn']

  constructor({ snapshots, warn }: Pick<StreamPorts, 'snapshots' | 'warn'>) {
    this.#store = snapshots
    this.#warn = warn
  }

  async latest(stream: string, revision: number): Promise<KeptReplica | null> {
    try {
      const found = await this.#store?.latest(nameOf(stream), FORM, { revision })
      if (!found) return null
      const { sum, state, bytes } = found.state as unknown as Kept
      if (sum !== sumOf(stream, found.revision, state, bytes)) throw new Error('it is damaged')
      return { revision: found.revision, state, bytes: Buffer.from(bytes, 'base64') }
    } catch (error) {
      this.leftAside(stream, error)
      return null
    }
  }

  /** Tells why a document is opened from all of its updates. */
  leftAside(stream: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error)
    this.#warn?.(idOf(stream), `no snapshot of the document could be used, so all of its updates are read: ${why}`)
  }

  /** A failure loses nothing. */
  keep(stream: string, { revision, state, bytes }: KeptReplica): void {
    const text = Buffer.from(bytes).toString('base64')
    const kept: Kept = { sum: sumOf(stream, revision, state, text), state, bytes: text }
    this.#store?.put(nameOf(stream), FORM, { revision, step: 0, state: kept as never }).catch(() => undefined)
  }
}

interface Kept {
  readonly sum: string
  readonly state: DocumentState
  readonly bytes: string
}

/** Beside the folded states of the same stream. */
const nameOf = (stream: string): string => `${stream}#replica`

/** Tells damage. It is no proof against malice. */
const sumOf = (stream: string, revision: number, state: DocumentState, bytes: string): string =>
  sha256(`${stream}@${revision}\n${canonicalText(state)}\n${bytes}`)
