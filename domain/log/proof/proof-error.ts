/** An error about a note, proof, policy or answer. `message` names the cause and the remedy. */
export class ProofError extends Error {
  readonly code: ProofErrorCode
  constructor(code: ProofErrorCode, message: string) {
    super(message)
    this.name = 'ProofError'
    this.code = code
  }
}

export type ProofErrorCode =
  | 'MALFORMED' // the text or bytes do not have the form of their format
  | 'SIGNATURE_WRONG' // a signature by a known key does not verify
  | 'SIGNATURE_MISSING' // no signature by a known key
  | 'PROOF_WRONG' // the proof is for another event, tree or request

/** For `catch`: undefined for a {@link ProofError}. Throws every other error. */
export function ifProofError(error: unknown): undefined {
  if (!(error instanceof ProofError)) throw error
}

export const malformed = (message: string) => new ProofError('MALFORMED', message)
