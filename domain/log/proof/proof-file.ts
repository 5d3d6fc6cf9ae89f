import { type Checkpoint, type OpenedCheckpoint, openCheckpoint } from './checkpoint.ts'
import { base64, fromBase64, fromDecimal, hashFromBase64 } from './encoding.ts'
import type { NoteKey } from './note.ts'
import { malformed, ProofError } from './proof-error.ts'
import { eventLeaf } from './tree.ts'
import { verifyInclusion } from './tree-proof.ts'

// Single proofs, https://c2sp.org/tlog-proof@v1, in files that end in `.tlog-proof`.

/**
 * The proof that one event is in a log. `checkpoint`: the signed note. `extra`: nothing authenticates it; keepup writes
 * the 32 bytes of the hash before the event and the event's canonical header, whose SHA-256 is the event's hash.
 */
export interface ProofFile {
  readonly index: number
  readonly proof: readonly Uint8Array[]
  readonly checkpoint: string
  readonly extra: Uint8Array | null
}

const TITLE = 'c2sp.org/tlog-proof@v1'

export function formatProofFile({ index, proof, checkpoint, extra }: ProofFile): string {
  const lines = [TITLE, ...(extra === null ? [] : [`extra ${base64(extra)}`]), `index ${index}`, ...proof.map(base64)]
  return `${lines.join('\n')}\n\n${checkpoint}`
}

/** Parses a proof file without verifying it. Throws `MALFORMED`. */
export function parseProofFile(text: string): ProofFile {
  const end = text.indexOf('\n\n')
  const [title, ...lines] = text.slice(0, Math.max(end, 0)).split('\n')
  if (title !== TITLE) throw malformed(`the file does not begin with "${TITLE}"; use a .tlog-proof file`)
  const extra = lines[0]?.startsWith('extra ') ? fromBase64(lines.shift()!.slice('extra '.length)) : null
  const index = /^index (.*)$/.exec(lines.shift() ?? '')?.[1]
  if (index === undefined) throw malformed('the proof file does not name the index of its event; fetch the file again')
  return { index: fromDecimal(index), proof: lines.map(hashFromBase64), checkpoint: text.slice(end + 2), extra }
}

/**
 * Verifies that an event (its chain hash, 64 hex digits) is in a log of one of these keys. Throws as `openCheckpoint`
 * does, and `PROOF_WRONG`.
 */
export function verifyProofFile(
  file: ProofFile,
  chainHash: string,
  logs: readonly NoteKey[],
  witnesses: readonly NoteKey[] = [],
): OpenedCheckpoint {
  const checkpoint = openCheckpoint(file.checkpoint, logs, witnesses)
  checkInclusion(file, chainHash, checkpoint)
  return checkpoint
}

function checkInclusion({ index, proof }: ProofFile, chainHash: string, { size, root }: Checkpoint): void {
  if (!verifyInclusion(index, size, eventLeaf(chainHash), proof, root))
    throw new ProofError('PROOF_WRONG', `the proof does not place event ${chainHash} at index ${index} of the log`)
}
