import { isStreamDamage } from '../../log/damage.ts'
import type { RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { type LogCheckpoint, openCheckpoint } from '../../log/proof/checkpoint.ts'
import { hashFromBase64 } from '../../log/proof/encoding.ts'
import { type NoteKey, parseVkey } from '../../log/proof/note.ts'
import { ifProofError, ProofError } from '../../log/proof/proof-error.ts'
import { eventLeaf } from '../../log/proof/tree.ts'
import { planInclusion, verifyInclusion } from '../../log/proof/tree-proof.ts'
import { unsalted } from '../../log/seal.ts'
import type { EventLog } from '../../ports/index.ts'
import type { SignedHead, TreeStore } from '../../ports/proof.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { currentOrigin, PROOF_ID, PROOF_STREAM, type ProofState, proof } from '../kind.ts'
import { logContinues, TREE_DAMAGED } from './log-continues.ts'

/** Adjacent events. `upTo`: the revision of the last one; null: there is none. */
export interface Part {
  readonly events: number
  readonly upTo: number | null
}

/**
 * How far heads cover the events of a stream. Heads cover the first events of the log, and so the first ones of each
 * stream. `anchored`: evidence from outside the log covers these events. `recorded`: an anchor keeps a head of the next
 * ones according to the log, and was not asked. `signed`: only a signed head covers the next ones. `chained`: no head
 * covers the rest.
 */
export interface Coverage {
  readonly anchored: Part
  readonly recorded: Part
  readonly signed: Part
  readonly chained: Part
}

/** The parts of a stream whose first events heads cover: `signed`, of these `recorded`, of these `anchored`. */
export function coverageOf(events: number, signed: number, recorded: number, anchored = 0): Coverage {
  const part = (from: number, to: number) => ({ events: to - from, upTo: to > from ? to - 1 : null })
  return {
    anchored: part(0, anchored),
    recorded: part(anchored, recorded),
    signed: part(recorded, signed),
    chained: part(signed, events),
  }
}

export interface CoveragePorts {
  readonly log: EventLog
  readonly store: TreeStore
  readonly streams: Streams
}

/**
 * `fault`: why the last signed head proves no event of the stream, or which anchored head contradicts the log. It can be
 * the fault of another stream, because one changed event of the log changes the root of the tree. `elsewhere`: it is,
 * because an earlier head of the same origin proves all events of this one.
 */
export type StreamCoverage = Coverage & { readonly fault: string | null; readonly elsewhere: boolean }

/**
 * How far the last signed head and the last recorded anchors cover a stream of `events` events. The inclusion proof of
 * the last covered event proves the events before it, because its hash continues theirs. Null: no head is stored.
 */
export async function streamCoverage(
  ports: CoveragePorts,
  stream: string,
  events: number,
): Promise<StreamCoverage | null> {
  const { store, streams } = ports
  const head = await store.lastHead()
  if (head === null) return null
  // The verification of the whole log names faults of the facts about keys.
  const state = await streams.state(proof, PROOF_ID).catch(ifUnreadable)
  const signedHead = opened(head.note, state)
  const none = { ...coverageOf(events, 0, 0), fault: null, elsewhere: false }
  if (state === null || signedHead === null) return none
  const signed = await coveredEvents(ports, stream, events, signedHead)
  let fault: string | null = null
  let elsewhere = false
  if (!signed.proved) {
    if (head.origin !== currentOrigin(state).origin) return none
    elsewhere = true
    const earlier = (await isCut(ports)) ? null : await earlierProof(ports, stream, signed, state, head)
    if (earlier === null) {
      const does = `the signed head of ${head.size} events does not contain revision ${signed.events - 1}`
      const isIntact = await logContinues(ports.log, signedHead)
      const why = isIntact ? TREE_DAMAGED : 'the log was changed; verify the whole log to find out where'
      return { ...none, fault: `${does}: ${why}` }
    }
    fault =
      `the signed head of ${head.size} events contradicts the log, but not at these events, which the head of ` +
      `${earlier.size} events contains`
  }
  // An accepted loss can have cut events of the heads of earlier origins.
  const { origin } = currentOrigin(state)
  let recorded = 0
  for (const [anchor, { root, ...left }] of Object.entries(state.anchored)) {
    if (left.size > head.size) continue
    const found = await coveredEvents(ports, stream, signed.events, { ...left, root: hashFromBase64(root) })
    if (found.proved) recorded = Math.max(recorded, found.events)
    else if (left.origin === origin && signed.proved) {
      const does = `the head of ${left.size} events that the anchor ${anchor} keeps`
      const isIntact = await logContinues(ports.log, { size: left.size, root: hashFromBase64(root) })
      fault = isIntact
        ? `${does} is not proved: ${TREE_DAMAGED}`
        : `${does} contradicts the log; verify the whole log with --anchors to find out where`
      elsewhere = false
    }
  }
  let anchored = 0
  for (const head of await cosignedHeads(ports.log, state)) {
    const part = await coveredEvents(ports, stream, recorded, head)
    if (part.proved) anchored = Math.max(anchored, part.events)
  }
  return { ...coverageOf(events, signed.events, recorded, anchored), fault, elsewhere }
}

/** The number of facts that are read at once, from the last one backwards. */
const FACTS = 50

/** The last head of each present witness in the log, with its valid cosignature. Only the witness can make that. */
async function cosignedHeads(log: EventLog, state: ProofState): Promise<LogCheckpoint[]> {
  const found: LogCheckpoint[] = []
  const wanted = new Map<string, string>()
  for (const [anchor, { vkey }] of Object.entries(state.anchors))
    if (vkey !== undefined && state.anchored[anchor] !== undefined) wanted.set(anchor, vkey)
  const last = wanted.size === 0 ? null : await log.head(PROOF_STREAM)
  const keys = state.origins.flatMap(({ vkeys }) => vkeys.map(parseVkey))
  for (let to = last === null ? 0 : last.revision + 1; to > 0 && wanted.size > 0; to -= FACTS) {
    const from = Math.max(0, to - FACTS)
    const page = (await Array.fromAsync(log.read(PROOF_STREAM, { from, limit: to - from }))).flat()
    for (const { header, body } of page.toReversed()) {
      if (header.type !== 'anchor_made' || body === null) continue
      const { anchor, checkpoint } = jsonOf(body)
      const vkey = wanted.get(anchor)
      if (vkey === undefined) continue
      wanted.delete(anchor)
      const opened = cosigned(checkpoint, keys, parseVkey(vkey))
      if (opened !== null) found.push(opened)
    }
  }
  return found
}

/** The verification of the whole log names a body of another shape. */
function jsonOf(body: Uint8Array): { readonly anchor: string; readonly checkpoint: string } {
  try {
    const { anchor, checkpoint } = JSON.parse(new TextDecoder().decode(unsalted(body)))
    return { anchor: String(anchor), checkpoint: String(checkpoint) }
  } catch {
    return { anchor: '', checkpoint: '' }
  }
}

function cosigned(note: string, keys: readonly NoteKey[], witness: NoteKey): LogCheckpoint | null {
  try {
    const opened = openCheckpoint(note, keys, [witness])
    return opened.signatures.some(({ key }) => key === witness) ? opened : null
  } catch (error) {
    if (error instanceof ProofError) return null
    throw error
  }
}

/** Whether the log may lack the last event of the stored tree. Any stream can then have lost its end. */
async function isCut({ log, store }: CoveragePorts): Promise<boolean> {
  const tree = await store.load().catch(ifProofError)
  if (!tree) return true
  try {
    for await (const _ of log.readAll(tree.cursor, { limit: 1, bodies: false })) break
    return false
  } catch (error) {
    if (error instanceof LogError && error.code === 'CURSOR_MISMATCH') return true
    throw error
  }
}

const HEADS = 500

/**
 * The first head of the last one's origin that covers the same events of the stream, if it proves them. A later one
 * proves nothing that the first does not.
 */
async function earlierProof(
  ports: CoveragePorts,
  stream: string,
  { events, index }: Covered,
  state: ProofState,
  { origin, size }: SignedHead,
): Promise<SignedHead | null> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await ports.store.heads(after, HEADS)
    const first = page.find((one) => one.origin === origin && one.size > index)
    if (first !== undefined) {
      const head = first.size < size ? opened(first.note, state) : null
      const found = head && (await coveredEvents(ports, stream, events, head))
      return found?.proved && found.events === events ? first : null
    }
    after = page.at(-1)?.number
  }
  return null
}

function ifUnreadable(error: unknown): null {
  if (error instanceof LogError) return null
  throw error
}

function opened(note: string, state: ProofState | null): LogCheckpoint | null {
  try {
    return openCheckpoint(note, state?.origins.flatMap(({ vkeys }) => vkeys.map(parseVkey)) ?? [])
  } catch (error) {
    if (error instanceof ProofError) return null
    throw error
  }
}

/** How many of the first events of a stream a head covers. `index`: of the last one in the tree; -1: none. */
interface Covered {
  readonly events: number
  readonly index: number
  /** The tree proves that the head contains them. */
  readonly proved: boolean
}

async function coveredEvents(
  { log, store }: CoveragePorts,
  stream: string,
  events: number,
  { size, root }: LogCheckpoint,
): Promise<Covered> {
  let last: { readonly index: number; readonly event: RecordedEvent } | null = null
  let [covered, end] = [0, events]
  for (let revision = events - 1; covered < end; revision = Math.floor((covered + end) / 2)) {
    const event = await eventAt(log, stream, revision)
    const index = event && (await store.indexOf(event.position))
    if (event === null || index === null || index >= size) end = revision
    else {
      last = { index, event }
      covered = revision + 1
    }
  }
  if (last === null) return { events: 0, index: -1, proved: true }
  const { index, event } = last
  const { tiles, build } = planInclusion(index, size)
  try {
    const hashes = build(await Promise.all(tiles.map((tile) => store.tile(tile))))
    return { events: covered, index, proved: verifyInclusion(index, size, eventLeaf(event.hash), hashes, root) }
  } catch (error) {
    if (error instanceof ProofError) return { events: covered, index, proved: false }
    throw error
  }
}

async function eventAt(log: EventLog, stream: string, revision: number): Promise<RecordedEvent | null> {
  try {
    for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false })) return event ?? null
  } catch (error) {
    // The proof of the stream names the damage.
    if (!isStreamDamage(error)) throw error
  }
  return null
}
