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
  | 'PROOF_WRONG' // the tree or the answer does not prove what it should

export const malformed = (message: string) => new ProofError('MALFORMED', message)
