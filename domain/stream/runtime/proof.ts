export interface ProofProblem {
  readonly revision: number
  /** `TABLE`: a row of the tables differs from the row that the events give. */
  readonly code: 'CHAIN' | 'BODY' | 'DIGEST' | 'SHAPE' | 'TIME' | 'BLOB' | 'CHILD' | 'ORPHAN' | 'TABLE'
  readonly message: string
}

/** The proof of one stream, or its problems. */
export interface StreamProof {
  readonly events: number
  readonly ok: boolean
  readonly head: string
  readonly erased: readonly { revision: number; code: string; reason: string }[]
  readonly problems: readonly ProofProblem[]
  /** Recorded digests that were compared with the folded state. */
  readonly digests: number
  /** Recorded digests that were not compared: another fold made them, or an event before them cannot be folded. */
  readonly unchecked: number
}
