import { sha256 } from '../../log/ids.ts'
import { idOf } from '../../log/owner.ts'
import type { EventLog, SnapshotStore } from '../../ports/index.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'

/** Increase this when the stored form changes. */
const FORM = 1

/** The revision of each answer, by the key hash of its request. */
export type AnswerIndex = Map<string, number>

/** The answers in the revisions from `from` to `to`, both inclusive. */
export interface AnswerPiece {
  readonly from: number
  readonly to: number
  readonly answers: readonly (readonly [key: string, revision: number])[]
}

interface Kept extends AnswerPiece {
  /** Hash of the event at `to`. It covers all events before it. */
  readonly hash: string
  readonly sum: string
}

/**
 * The index of a stream's answers, cached in pieces so that opening a document does not read every header. A piece is
 * valid only if its checksum is correct and the log has the same event at its end. The pieces are used only if they
 * cover the stream from its start without a gap, because a missed answer would let a request apply twice.
 */
export class AnswerPieces {
  readonly #log: EventLog
  readonly #store: SnapshotStore | undefined
  readonly #warn: StreamPorts['warn']
  readonly #stream: string

  constructor({ log, snapshots, warn }: Pick<StreamPorts, 'log' | 'snapshots' | 'warn'>, stream: string) {
    this.#log = log
    this.#store = snapshots
    this.#warn = warn
    this.#stream = stream
  }

  /** Reads the answers before the revision `next`. `next` is 0 if no piece is usable. */
  async read(last: number): Promise<{ readonly found: AnswerIndex; readonly next: number }> {
    try {
      const pieces: AnswerPiece[] = []
      for (let to = last; to >= 0; ) {
        const piece = await this.#piece(to)
        if (piece === null || (pieces.length > 0 && piece.to !== to)) return { found: new Map(), next: 0 }
        pieces.push(piece)
        to = piece.from - 1
      }
      const found: AnswerIndex = new Map(pieces.toReversed().flatMap(({ answers }) => answers))
      return { found, next: (pieces[0]?.to ?? -1) + 1 }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#warn?.(idOf(this.#stream), `the index of answered requests is read from all headers: ${why}`)
      return { found: new Map(), next: 0 }
    }
  }

  /** Stores a piece. Errors are ignored, because the pieces are only a cache. */
  async keep(piece: AnswerPiece): Promise<void> {
    if (this.#store === undefined) return
    const hash = await this.#hashAt(piece.to)
    if (hash === null) return
    const kept: Kept = { ...piece, hash, sum: this.#sumOf(piece, hash) }
    this.#store.put(nameOf(this.#stream), FORM, { revision: piece.to, step: 0, state: kept }).catch(() => undefined)
  }

  /** The last piece that ends at or before a revision, or null. */
  async #piece(revision: number): Promise<AnswerPiece | null> {
    const snapshot = await this.#store?.latest(nameOf(this.#stream), FORM, { revision })
    if (!snapshot) return null
    const piece = snapshot.state as Kept
    if (piece.sum !== this.#sumOf(piece, piece.hash)) throw new Error('a kept piece of it is damaged')
    if (piece.hash !== (await this.#hashAt(piece.to))) throw new Error('a kept piece of it does not fit the log')
    return piece
  }

  async #hashAt(revision: number): Promise<string | null> {
    for await (const [recorded] of this.#log.read(this.#stream, { from: revision, limit: 1, bodies: false }))
      return recorded?.hash ?? null
    return null
  }

  /** Detects damage, not manipulation. */
  #sumOf({ from, to, answers }: AnswerPiece, hash: string): string {
    return sha256(`${this.#stream}@${from}-${to}\n${hash}\n${JSON.stringify(answers)}`)
  }
}

/** Stored next to the state snapshots of the same stream. */
const nameOf = (stream: string): string => `${stream}#answers`
