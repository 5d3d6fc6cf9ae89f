import { isStreamDamage } from '../../log/damage.ts'
import type { RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { type LogCheckpoint, openCheckpoint } from '../../log/proof/checkpoint.ts'
import { hashFromBase64 } from '../../log/proof/encoding.ts'
import { parseVkey } from '../../log/proof/note.ts'
import { ProofError } from '../../log/proof/proof-error.ts'
import { eventLeaf } from '../../log/proof/tree.ts'
import { planInclusion, verifyInclusion } from '../../log/proof/tree-proof.ts'
import type { EventLog } from '../../ports/index.ts'
import type { TreeStore } from '../../ports/proof.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { currentOrigin, PROOF_ID, type ProofState, proof } from '../kind.ts'

/** Adjacent events. `upTo`: the revision of the last one; null: there is none. */
export interface Part {
  readonly events: number
  readonly upTo: number | null
}

/**
 * How far heads cover the events of a stream. Heads cover the first events of the log, and so the first ones of each
 * stream. `anchored`: an anchored head covers these events. `signed`: only a signed head covers the next ones.
 * `chained`: no head covers the rest.
 */
export interface Coverage {
  readonly anchored: Part
  readonly signed: Part
  readonly chained: Part
}

/** The parts of a stream whose first `signed` and first `anchored` events heads cover. */
export function coverageOf(events: number, signed: number, anchored: number): Coverage {
  const part = (from: number, to: number) => ({ events: to - from, upTo: to > from ? to - 1 : null })
  return { anchored: part(0, anchored), signed: part(anchored, signed), chained: part(signed, events) }
}

export interface CoveragePorts {
  readonly log: EventLog
  readonly store: TreeStore
  readonly streams: Streams
}

/**
 * `fault`: why the last signed head proves no event of the stream. It is no fault of the stream alone, because one
 * changed event of the log changes the root of the tree.
 */
export type StreamCoverage = Coverage & { readonly fault: string | null }

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
  if (state === null || signedHead === null) return { ...coverageOf(events, 0, 0), fault: null }
  const signed = await coveredEvents(ports, stream, events, signedHead)
  if (!signed.proved) {
    const fault =
      `the signed head of ${head.size} events does not contain revision ${signed.events - 1}: the log or its stored ` +
      'tree was changed; verify the whole log to find out which'
    return { ...coverageOf(events, 0, 0), fault: head.origin === currentOrigin(state).origin ? fault : null }
  }
  // An accepted loss can have cut events of anchored heads.
  const anchored = Object.values(state.anchored)
    .filter(({ size }) => size <= head.size)
    .sort((a, b) => b.size - a.size)
  for (const { origin, size, root } of anchored) {
    const found = await coveredEvents(ports, stream, signed.events, { origin, size, root: hashFromBase64(root) })
    if (found.proved) return { ...coverageOf(events, signed.events, found.events), fault: null }
  }
  return { ...coverageOf(events, signed.events, 0), fault: null }
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

/** How many of the first `events` events a head covers, and whether the tree proves that the head contains them. */
async function coveredEvents(
  { log, store }: CoveragePorts,
  stream: string,
  events: number,
  { size, root }: LogCheckpoint,
): Promise<{ events: number; proved: boolean }> {
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
  if (last === null) return { events: 0, proved: true }
  const { tiles, build } = planInclusion(last.index, size)
  try {
    const hashes = build(await Promise.all(tiles.map((tile) => store.tile(tile))))
    return { events: covered, proved: verifyInclusion(last.index, size, eventLeaf(last.event.hash), hashes, root) }
  } catch (error) {
    if (error instanceof ProofError) return { events: covered, proved: false }
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
