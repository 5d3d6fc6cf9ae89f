import type { Cursor } from '../log/cursor.ts'
import type { NoteSigner } from '../log/proof/note.ts'
import type { Edge, StoredHash } from '../log/proof/tree.ts'
import type { Tile } from '../log/proof/tree-proof.ts'

/** A signed checkpoint. `at`: when it was signed, in ms since the epoch. */
export interface SignedHead {
  readonly origin: string
  readonly size: number
  readonly note: string
  readonly at: number
}

/** The tree up to an event of the log. */
export interface StoredTree {
  readonly edge: Edge
  /** The event of the last leaf. */
  readonly cursor: Cursor
}

/** An event as a leaf of the tree. `hash`: its chain hash, 64 hex digits. */
export interface TreeLeaf {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly hash: string
}

/** What a signature adds to a stored tree. */
export interface TreeGrowth extends StoredTree {
  /** The new leaves in order. They begin where the stored tree ends. */
  readonly leaves: readonly TreeLeaf[]
  /** The hashes of the levels from 1 on that the new leaves complete, in order. */
  readonly hashes: readonly StoredHash[]
  /** Null: only the tree grows. */
  readonly head: SignedHead | null
}

/** The last attempt that failed. `at`: ms since the epoch. */
export interface Failure {
  readonly message: string
  readonly at: number
}

export type FailureSubject = 'signer' | `anchor:${string}`

/**
 * The hashes of the log's tree and its signed heads. The tree is derived from the log and can be made again; the heads
 * cannot.
 */
export interface TreeStore {
  /** It stores the hashes of level 0 too. Absent: they follow from the log. */
  readonly storesLeaves?: true
  /** Null: no leaf is stored. Rejects with a ProofError if another program damaged the tree. */
  load(): Promise<StoredTree | null>
  /**
   * Stores all of it or nothing. Resolves when it is durable. Rejects with `TREE_MOVED` if the stored tree does not end
   * where the growth begins, or has another head of this origin and size: another process was faster.
   */
  grow(growth: TreeGrowth): Promise<void>
  /** The hashes of a tile, `32 · width` bytes. Fewer: the store does not have all of them. */
  tile(tile: Tile): Promise<Uint8Array>
  /** The positions in the log of `count` leaves from `first` on. Fewer: the store does not have all of them. */
  positions(first: number, count: number): Promise<readonly number[]>
  /** The index of the leaf at a position of the log; null: there is none. */
  indexOf(position: number): Promise<number | null>
  /** The last signed head of an origin, or of any; null: there is none. */
  lastHead(origin?: string): Promise<SignedHead | null>
  /**
   * Signed heads in the order of their signatures, at most `limit` after the head number `after`. The first one has
   * number 1, and no number is missing.
   */
  heads(after: number, limit: number): Promise<readonly (SignedHead & { readonly number: number })[]>
  /** Forgets the tree and keeps the heads. */
  clear(): Promise<void>
  /**
   * Remembers the last failure of the signatures (over when a later head is signed) or of an anchor, for other
   * processes. Null: it works again.
   */
  report(subject: FailureSubject, failure: Failure | null): Promise<void>
  failures(): Promise<ReadonlyMap<FailureSubject, Failure>>
}

/** The secret keys of the log's origins, on this machine. */
export interface SigningKeys {
  /** All keys, the newest first. Rejects if others can read them. */
  read(): Promise<readonly NoteSigner[]>
  /** Adds a key durably. The earlier keys stay. */
  add(key: NoteSigner): Promise<void>
}

/** A place outside the log that remembers signed heads. */
export interface AnchorPlace {
  readonly target: string
  /** The key of a witness. */
  readonly vkey?: string | undefined
}

/** One kind of anchor. */
export interface AnchorKeeper {
  /**
   * Leaves a signed head with the anchor. `last`: the size of the head that the anchor got before (0: none).
   * `consistency`: the proof that the head's tree begins with a smaller one. Returns the note, with what the anchor added
   * to it, and the anchor's receipt (null: it gives none). Rejects with the cause and the remedy.
   */
  keep(
    place: AnchorPlace,
    head: SignedHead,
    last: number,
    consistency: (old: number) => Promise<readonly Uint8Array[]>,
  ): Promise<{ readonly checkpoint: string; readonly receipt: Uint8Array | null }>
  /** The checkpoints that the anchor holds now for an origin. Absent: the anchor cannot be asked. */
  held?(place: AnchorPlace, origin: string): Promise<readonly string[]>
  /** Its checkpoints for an origin that cover more than `size` events, the largest first. Absent: it needs the network. */
  later?(place: AnchorPlace, origin: string, size: number): AsyncIterable<string>
}
