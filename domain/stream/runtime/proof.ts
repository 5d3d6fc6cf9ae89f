export interface Problem {
  readonly revision: number
  /** `TABLE`: the tables hold another row than the events give. */
  readonly code: 'CHAIN' | 'BODY' | 'DIGEST' | 'SHAPE' | 'TIME' | 'BLOB' | 'CHILD' | 'ORPHAN' | 'TABLE'
  readonly message: string
}

/** The proof of one stream, or what is wrong with it. */
export interface StreamProof {
  readonly events: number
  readonly ok: boolean
  readonly head: string
  readonly erased: readonly { revision: number; reason: string }[]
  readonly problems: readonly Problem[]
  /** Recorded digests that were held against the state folded here. */
  readonly digests: number
  /** Those that were not: another fold made them, or something before them cannot be folded. */
  readonly unchecked: number
}
