import { echo } from '../issues.ts'
import { base64, fromDecimal, hashFromBase64 } from './encoding.ts'
import { formatNote, type NoteKey, type NoteSignature, type NoteSigner, openNote, signatureLine } from './note.ts'
import { malformed, ProofError } from './proof-error.ts'

// Checkpoints, https://c2sp.org/tlog-checkpoint@v1.0.0: signed notes about the root of a log's tree.

/** The root of the first `size` leaves of a log. `origin`: the log's unique name, also the name of its key. */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
}

/** A checkpoint that its log signed, and all verified signatures, with those of witnesses. */
export interface OpenedCheckpoint extends Checkpoint {
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** The text that log and witnesses sign. Throws `MALFORMED` for an origin that is not one line. */
export function checkpointText(checkpoint: Checkpoint): string {
  const text = `${checkpoint.origin}\n${checkpoint.size}\n${base64(checkpoint.root)}\n`
  parseCheckpoint(text)
  return text
}

/** Parses the text of a checkpoint; extension lines are allowed and ignored. Throws `MALFORMED`. */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split('\n')
  const [origin, size, root] = lines
  if (lines.length < 4 || lines.pop() !== '' || lines.includes('') || /[\u0000-\u001f]/.test(origin!))
    throw malformed(`"${echo(text)}" is not a checkpoint (origin, size and root, a line each); fetch the file again`)
  return { origin: origin!, size: fromDecimal(size!), root: hashFromBase64(root!) }
}

/** Signs a checkpoint as the log. A log must never sign two checkpoints that are not consistent with each other. */
export function signCheckpoint(checkpoint: Checkpoint, signer: NoteSigner): string {
  if (signer.key.name !== checkpoint.origin)
    throw malformed(
      `the key "${echo(signer.key.name)}" cannot sign for "${echo(checkpoint.origin)}"; use the log's key`,
    )
  const text = checkpointText(checkpoint)
  return formatNote(text, [signatureLine(signer, text)])
}

/**
 * Opens a checkpoint that one of these keys of logs signed, under its own name as origin. `witnesses`: the keys whose
 * cosignatures are verified too. Throws as `openNote` does.
 */
export function openCheckpoint(
  note: string,
  logs: readonly NoteKey[],
  witnesses: readonly NoteKey[] = [],
): OpenedCheckpoint {
  const { text, signatures } = openNote(note, [...logs, ...witnesses])
  const checkpoint = parseCheckpoint(text)
  if (!signatures.some(({ key }) => logs.includes(key) && key.name === checkpoint.origin))
    throw new ProofError(
      'SIGNATURE_MISSING',
      `no known key of the log "${echo(checkpoint.origin)}" signed the checkpoint; add the log's verifier key`,
    )
  return { ...checkpoint, text, signatures }
}
