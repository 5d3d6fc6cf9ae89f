import { canonicalText } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import { idOf } from '../../log/owner.ts'
import type { SnapshotStore } from '../../ports/index.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'
import type { DocumentState } from '../stream/state.ts'

/** The approximate number of updates between snapshots. */
export const REPLICA_EVERY = 1000

/** An older snapshot is kept permanently when the document has grown by this share since the previous permanent one. */
const GROWTH = 1 / 8

/** Increase this when the stored form changes. */
const FORM = 1

/** A replica with the folded state at its revision. */
export interface KeptReplica {
  readonly revision: number
  readonly state: DocumentState
  readonly bytes: Uint8Array
}

/**
 * Cached snapshots of replicas, so that opening a document does not import every update. The reader compares the state
 * with the digest in the log, and the replica with the state's frontier.
 */
export class ReplicaCache {
  readonly #store: SnapshotStore | undefined
  readonly #warn: StreamPorts['warn']

  constructor({ snapshots, warn }: Pick<StreamPorts, 'snapshots' | 'warn'>) {
    this.#store = snapshots
    this.#warn = warn
  }

  async latest(stream: string, revision: number): Promise<KeptReplica | null> {
    const newest = await this.#found(stream, newestOf(stream), { revision: NEWEST })
    if (newest !== null && newest.revision <= revision) return newest
    return this.#found(stream, nameOf(stream), { revision })
  }

  async #found(stream: string, name: string, upTo: { revision: number }): Promise<KeptReplica | null> {
    try {
      const found = await this.#store?.latest(name, FORM, upTo)
      if (!found) return null
      const { sum, state, bytes, revision = found.revision } = found.state as Kept
      if (sum !== sumOf(stream, revision, state, bytes)) throw new Error('it is damaged')
      return { revision, state, bytes: Buffer.from(bytes, 'base64') }
    } catch (error) {
      this.leftAside(stream, error)
      return null
    }
  }

  /** Warns that a document is opened from all of its updates. */
  leftAside(stream: string, error: unknown): void {
    this.#tell(stream, 'no snapshot of the document could be used, so all of its updates are read', error)
  }

  /** Warns that the document has no new snapshot. */
  notKept(stream: string, error: unknown): void {
    this.#tell(stream, 'no snapshot of the document could be made, so it opens more slowly; verify it', error)
  }

  #tell(stream: string, what: string, error: unknown): void {
    this.#warn?.(idOf(stream), `${what}: ${error instanceof Error ? error.message : String(error)}`)
  }

  /**
   * Replaces the newest snapshot. Some snapshots are kept permanently; their number grows slowly enough that their
   * total size is proportional to the document, not to its square. Errors are ignored. `before`: the number of updates
   * at the previous snapshot.
   */
  keep(stream: string, { revision, state, bytes }: KeptReplica, before: number): void {
    const text = Buffer.from(bytes).toString('base64')
    const kept: Kept = { sum: sumOf(stream, revision, state, text), state, bytes: text }
    const put = (name: string, at: number, what: object) =>
      this.#store?.put(name, FORM, { revision: at, step: 0, state: what }).catch(() => undefined)
    void put(newestOf(stream), NEWEST, { ...kept, revision })
    if (stays(before, state.updates)) void put(nameOf(stream), revision, kept)
  }
}

interface Kept {
  /** Only in the newest snapshot, whose key in the store is always 0. */
  readonly revision?: number
  readonly sum: string
  readonly state: DocumentState
  readonly bytes: string
}

/** Stored next to the state snapshots of the same stream. */
const nameOf = (stream: string): string => `${stream}#replica`
const newestOf = (stream: string): string => `${stream}#replica-newest`

/** The only key of the newest snapshot. */
const NEWEST = 0

/** Whether a permanent snapshot is due between these numbers of updates. */
export function stays(before: number, updates: number): boolean {
  let at = REPLICA_EVERY
  while (at <= before) at += Math.max(REPLICA_EVERY, Math.floor(at * GROWTH))
  return at <= updates
}

/** Detects damage, not manipulation. */
const sumOf = (stream: string, revision: number, state: DocumentState, bytes: string): string =>
  sha256(`${stream}@${revision}\n${canonicalText(state)}\n${bytes}`)
