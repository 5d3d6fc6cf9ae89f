import { echo } from '../issues.ts'
import { type LogCheckpoint, openCheckpoint, parseCheckpoint } from './checkpoint.ts'
import { base64, equalBytes, fromDecimal, hashFromBase64 } from './encoding.ts'
import { COSIGNATURE, formatNote, type NoteKey, type NoteSigner, openNote, signatureLine, splitNote } from './note.ts'
import { malformed, ProofError } from './proof-error.ts'
import { EMPTY_TREE_ROOT } from './tree.ts'
import { verifyConsistency } from './tree-proof.ts'

// The witness protocol, https://c2sp.org/tlog-witness@v1.0.0. A witness cosigns only checkpoints that are consistent with
// the last one that it cosigned for the log.

/** The body of `POST <prefix>/add-checkpoint`. `old`: the size of the witness's last checkpoint of the log, or 0. */
export interface WitnessRequest {
  readonly old: number
  readonly proof: readonly Uint8Array[]
  readonly checkpoint: string
}

export const SIZE_MEDIA_TYPE = 'text/x.tlog.size'
const MAX_PROOF = 63

export const formatWitnessRequest = ({ old, proof, checkpoint }: WitnessRequest): string =>
  `old ${old}\n${proof.map((hash) => `${base64(hash)}\n`).join('')}\n${checkpoint}`

/** Parses a request; a witness answers 400 when this throws `MALFORMED`. `log`: the origin of the checkpoint. */
export function parseWitnessRequest(body: string): WitnessRequest & { readonly log: string } {
  const end = body.indexOf('\n\n')
  const [first = '', ...proof] = body.slice(0, Math.max(end, 0)).split('\n')
  const old = /^old (.*)$/.exec(first)?.[1]
  if (old === undefined)
    throw malformed('the request does not begin with a line "old <size>"; see c2sp.org/tlog-witness')
  if (proof.length > MAX_PROOF) throw malformed(`a proof has at most ${MAX_PROOF} hashes; send the proof of one tree`)
  const checkpoint = body.slice(end + 2)
  const log = parseCheckpoint(splitNote(checkpoint).text).origin
  return { old: fromDecimal(old), proof: proof.map(hashFromBase64), checkpoint, log }
}

/** A log that a witness knows: its keys, and the last checkpoint that the witness cosigned. */
export interface WitnessedLog {
  readonly keys: readonly NoteKey[]
  readonly last: Pick<LogCheckpoint, 'size' | 'root'> | null
}

/**
 * The decision about a request. With 200 the witness stores `checkpoint` as its last one of the log, in one transaction
 * with the read of `last`, before it signs `text` and answers. `note`: the text with the signatures of its log. With 409
 * it answers its own `size`.
 */
export type WitnessDecision =
  | { readonly status: 200; readonly checkpoint: LogCheckpoint; readonly text: string; readonly note: string }
  | WitnessRefusal

export type WitnessRefusal =
  | { readonly status: 409; readonly size: number }
  | { readonly status: 400 | 403 | 404 | 422; readonly reason: string }

/** Decides about a request. `known`: the log of the request's origin; null when the witness does not know the log. */
export function decideWitness(request: WitnessRequest, known: WitnessedLog | null): WitnessDecision {
  if (known === null)
    return { status: 404, reason: 'this witness does not know the log; ask its operator to add the key' }
  let opened: ReturnType<typeof openCheckpoint>
  try {
    opened = openCheckpoint(request.checkpoint, known.keys)
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    return { status: error.code === 'MALFORMED' ? 400 : 403, reason: error.message }
  }
  const { text, signatures, ...checkpoint } = opened
  const { old, proof } = request
  const { size, root } = checkpoint
  if (old > size) return { status: 400, reason: `the old size ${old} is above the size ${size} of the checkpoint` }
  const last = known.last ?? { size: 0, root: EMPTY_TREE_ROOT }
  if (old !== last.size) return { status: 409, size: last.size }
  if (size === 0 && !equalBytes(root, EMPTY_TREE_ROOT))
    return { status: 422, reason: 'the root is not the root of an empty tree' }
  const isConsistent = old === 0 ? proof.length === 0 : verifyConsistency(old, size, last.root, root, proof)
  if (!isConsistent) return { status: 422, reason: `the proof does not lead from ${old} to ${size} leaves` }
  const note = formatNote(
    text,
    signatures.map(({ line }) => line),
  )
  return { status: 200, checkpoint, text, note }
}

/** An HTTP answer. */
export interface WitnessAnswer {
  readonly status: number
  readonly mediaType: string
  readonly body: string
}

const TEXT = 'text/plain; charset=utf-8'

/** The answer to a request that the witness refuses. */
export function refusalAnswer(refusal: WitnessRefusal): WitnessAnswer {
  const { status } = refusal
  return status === 409
    ? { status, mediaType: SIZE_MEDIA_TYPE, body: `${refusal.size}\n` }
    : { status, mediaType: TEXT, body: `${refusal.reason}\n` }
}

/** The answer with the cosignature of a checkpoint's text. `time`: POSIX seconds. */
export const cosignatureAnswer = (signer: NoteSigner, text: string, time: number): WitnessAnswer => ({
  status: 200,
  mediaType: TEXT,
  body: signatureLine(signer, text, time),
})

/** The answer of a witness to a request that it decided. `time`: POSIX seconds. */
export const witnessAnswer = (decision: WitnessDecision, signer: NoteSigner, time: number): WitnessAnswer =>
  decision.status === 200 ? cosignatureAnswer(signer, decision.text, time) : refusalAnswer(decision)

/** What a log does with an answer: add the cosigned note, send a proof from the witness's size, or report a refusal. */
export type WitnessOutcome =
  | { readonly kind: 'cosigned'; readonly checkpoint: string }
  | { readonly kind: 'behind'; readonly size: number }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Reads a witness's answer to the request with this checkpoint. The cosigned note has the lines of the checkpoint and
 * the verified lines of the answer. Throws `MALFORMED`, `SIGNATURE_WRONG` or `SIGNATURE_MISSING`.
 */
export function readWitnessAnswer(answer: WitnessAnswer, checkpoint: string, witness: NoteKey): WitnessOutcome {
  if (answer.status === 409 && answer.mediaType === SIZE_MEDIA_TYPE)
    return { kind: 'behind', size: fromDecimal(answer.body.replace(/\n$/, '')) }
  if (answer.status !== 200) return { kind: 'refused', reason: `${answer.status} ${echo(answer.body.trim())}` }
  if (witness.type !== COSIGNATURE)
    throw malformed(`"${witness.name}" is not the key of a witness; configure a key of type ${COSIGNATURE}`)
  const { text, lines } = splitNote(checkpoint)
  const opened = openNote(formatNote(text, [answer.body]), [witness])
  if (opened.text !== text)
    throw malformed(`the answer of "${witness.name}" has more than signature lines; check its URL`)
  // One line is enough. A note with many lines cannot be opened.
  const added = opened.signatures.slice(0, 1).flatMap(({ line }) => (lines.includes(line) ? [] : [line]))
  return { kind: 'cosigned', checkpoint: formatNote(text, [...lines, ...added]) }
}
