import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { openCheckpoint } from '../../../domain/log/proof/checkpoint.ts'
import { base64 } from '../../../domain/log/proof/encoding.ts'
import { formatNote, type NoteKey, parseVkey } from '../../../domain/log/proof/note.ts'
import { formatPolicy, NO_QUORUM, type PolicyWitness } from '../../../domain/log/proof/policy.ts'
import { ProofError } from '../../../domain/log/proof/proof-error.ts'
import type { SignedHead } from '../../../domain/ports/proof.ts'
import type { ProofEvent } from '../../../domain/proof/events.ts'
import { currentOrigin, PROOF_ID, PROOF_STREAM, type ProofState, proof } from '../../../domain/proof/kind.ts'
import { bodyOf } from '../../../domain/stream/runtime/bodies.ts'
import type { Services } from '../services.ts'

// Heads with the cosignatures of the log's witnesses, which the facts about anchors keep.

/** `after`: an event that the head covers; few covered events follow it. Null: it covers none of `proof-log`. */
export interface CosignedHead extends SignedHead {
  readonly after: Cursor | null
}

/** Facts that are read at once. */
const PAGE = 200

/** The witnesses of the log, each key once, under names that a policy can have. */
function witnessesOf({ anchors }: Pick<ProofState, 'anchors'>): PolicyWitness[] {
  const found = new Map<string, PolicyWitness>()
  for (const [anchor, { vkey }] of Object.entries(anchors)) {
    if (vkey === undefined) continue
    let name = anchor
    while (name === NO_QUORUM || (name !== anchor && name in anchors)) name += '-witness'
    const key = parseVkey(vkey)
    const bytes = base64(key.publicKey)
    if (!found.has(bytes)) found.set(bytes, { name, key })
  }
  return [...found.values()]
}

/** The policy of a pack: the keys of the log and of its witnesses, without a quorum. */
export function packPolicy(state: ProofState | null): string {
  const logs = (state?.origins ?? []).flatMap(({ vkeys }) => vkeys.map((vkey) => ({ key: parseVkey(vkey) })))
  return formatPolicy({ logs, witnesses: state === null ? [] : witnessesOf(state), groups: [], quorum: null })
}

/**
 * The head for a proof: of the cosigned heads that cover what is proved, the one with the most cosignatures, and the
 * newest of these. If none covers it, `current`. `covers`: true for every head after one for which it is true.
 */
export async function headFor(
  s: Pick<Services, 'proof' | 'log' | 'blobs' | 'streams'>,
  current: SignedHead,
  covers: (head: CosignedHead) => boolean | Promise<boolean>,
): Promise<SignedHead> {
  let best = current
  let most = 0
  for (const { cosigners, ...head } of await cosignedHeads(s, current.origin)) {
    if (cosigners <= most) continue
    if (!(await covers(head))) break
    best = head
    most = cosigners
  }
  return best
}

type Found = CosignedHead & { readonly cosigners: number }

/** The last cosigned heads of each witness, the newest first. */
async function cosignedHeads(
  s: Pick<Services, 'proof' | 'log' | 'blobs' | 'streams'>,
  origin: string,
): Promise<readonly Found[]> {
  const state = await s.streams.state(proof, PROOF_ID)
  const { store } = s.proof
  if (store === null || state === null || currentOrigin(state).origin !== origin) return []
  const last = Object.entries(state.anchors).flatMap(([anchor, { vkey }]) => {
    const head = state.anchored[anchor]
    return vkey === undefined || head?.origin !== origin ? [] : [head.size]
  })
  if (last.length === 0) return []
  const oldest = Math.min(...last)
  const keys = witnessesOf(state).map(({ key }) => key)
  const logs = currentOrigin(state).vkeys.map(parseVkey)
  const notes = new Map<number, { at: number; text: string; lines: Map<NoteKey, string>; after: Cursor | null }>()
  for await (const event of factsBackwards(s)) {
    const index = (await store.indexOf(event.position)) ?? Number.POSITIVE_INFINITY
    for (const [size, head] of notes) if (index < size) head.after ??= s.log.cursor(event)
    const isDone = index < oldest
    if (isDone && [...notes.values()].every(({ after }) => after !== null)) break
    const made = await anchorMade(s, event)
    if (made === null || made.origin !== origin || made.size < oldest) continue
    const opened = openedBy(made.checkpoint, logs, keys)
    if (opened === null) continue
    const { text, size, signatures } = opened
    const note = notes.get(size) ?? { at: Date.parse(event.header.timestamp), text, lines: new Map(), after: null }
    if (note.text !== text) continue
    for (const { key, line } of signatures) if (!note.lines.has(key)) note.lines.set(key, line)
    notes.set(size, note)
  }
  return [...notes]
    .sort(([a], [b]) => b - a)
    .map(([size, { at, text, lines, after }]) => ({
      ...{ origin, size, at, after, note: formatNote(text, [...lines.values()]) },
      cosigners: keys.filter((key) => lines.has(key)).length,
    }))
}

/** The facts of `proof-log`, the last one first. */
async function* factsBackwards({ log }: Pick<Services, 'log'>): AsyncGenerator<RecordedEvent> {
  for (let to = (await log.head(PROOF_STREAM))?.revision ?? -1; to >= 0; to -= PAGE) {
    const from = Math.max(0, to - PAGE + 1)
    const facts = (await Array.fromAsync(log.read(PROOF_STREAM, { from, limit: to - from + 1 }))).flat()
    yield* facts.reverse()
  }
}

async function anchorMade(s: Pick<Services, 'blobs' | 'log'>, event: RecordedEvent) {
  if (event.header.type !== 'anchor_made' || event.erased) return null
  const fact = proof.decode(event.header, await bodyOf(s, event)) as ProofEvent
  return fact.type === 'anchor_made' ? fact.body : null
}

/** The checkpoint and its valid signatures. Null: it is malformed, or a signature of a known key is wrong. */
function openedBy(note: string, logs: readonly NoteKey[], witnesses: readonly NoteKey[]) {
  try {
    return openCheckpoint(note, logs, witnesses)
  } catch (error) {
    if (error instanceof ProofError) return null
    throw error
  }
}
