import { readAcceptedLosses } from '../../../../domain/agent/runtime/losses.ts'
import { type LogCheckpoint, openCheckpoint } from '../../../../domain/log/proof/checkpoint.ts'
import { parseVkey } from '../../../../domain/log/proof/note.ts'
import { ifProofError, ProofError } from '../../../../domain/log/proof/proof-error.ts'
import { edgeRoot } from '../../../../domain/log/proof/tree.ts'
import { planConsistency, verifyConsistency } from '../../../../domain/log/proof/tree-proof.ts'
import type { Clock, EventLog } from '../../../../domain/ports/index.ts'
import type { AnchorKeeper, TreeStore } from '../../../../domain/ports/proof.ts'
import type { AnchorKind } from '../../../../domain/proof/events.ts'
import { currentOrigin, PROOF_ID, proof } from '../../../../domain/proof/kind.ts'
import { logContinues } from '../../../../domain/proof/runtime/log-continues.ts'
import type { Streams } from '../../../../domain/stream/runtime/streams.ts'
import { within } from '../../../../domain/stream/runtime/time-limit.ts'
import type { Seen } from '../../../operations/losses/loss.ts'
import { logContains } from './find-loss.ts'

/** The longest time that a start waits for anchors, in ms. */
const WAIT_MS = 1_000

interface AnchoredLog {
  readonly log: EventLog
  /** Null: the tree is not stored here, so roots are computed from the log. */
  readonly store: TreeStore | null
  readonly streams: Pick<Streams, 'state'>
  readonly keepers: Readonly<Record<AnchorKind, Pick<AnchorKeeper, 'later'>>>
  readonly clock: Clock
}

/**
 * The end of the largest head of an anchor on this machine that the log does not continue: the log ends before it, or was rewritten. Undefined: the log continues all of them, or no anchor answers in time. Heads of earlier origins do not
 * count: their losses were accepted. The log has an event at each position up to its end, so a head of more events than
 * that covers lost ones.
 */
export async function anchorsAhead({ log, store, streams, keepers, clock }: AnchoredLog): Promise<Seen | undefined> {
  // A stream that cannot be read prevents no start. The verification names the fault.
  const state = await streams.state(proof, PROOF_ID).catch(() => null)
  // The next signature begins an origin after each accepted loss.
  if (state === null || (await readAcceptedLosses(log)).length > state.losses) return undefined
  const { position } = await log.headCursor()
  const { origin, vkeys } = currentOrigin(state)
  const keys = vkeys.map(parseVkey)
  const largest = async ({ kind, ...place }: (typeof state.anchors)[string]): Promise<LogCheckpoint | null> => {
    for await (const note of keepers[kind].later?.(place, origin, 0) ?? []) {
      const opened = openedBy(keys, note)
      if (opened?.origin === origin) return opened
    }
    return null
  }
  const all = Object.values(state.anchors).map((anchor) =>
    // An anchor that does not answer must not delay or prevent a start. Its next round reports the failure.
    within(clock, WAIT_MS, 'an anchor', largest(anchor)).catch(() => null),
  )
  const found = (await Promise.all(all)).filter((one) => one !== null).sort((a, b) => b.size - a.size)
  for (const head of found)
    if (head.size > position || !(await continues(log, store, head)))
      return { position: head.size, hash: Buffer.from(head.root).toString('hex') }
  return undefined
}

/** Whether the log begins with the events of a head. A stored tree that proves it saves reading the log, if the log has its end. */
async function continues(log: EventLog, store: TreeStore | null, { size, root }: LogCheckpoint): Promise<boolean> {
  const stored = await store?.load().catch(ifProofError)
  if (stored && stored.edge.size >= size && (await logContains(log, stored.cursor))) {
    const { tiles, build } = planConsistency(size, stored.edge.size)
    try {
      const proof = build(await Promise.all(tiles.map((tile) => store!.tile(tile))))
      if (verifyConsistency(size, stored.edge.size, root, edgeRoot(stored.edge), proof)) return true
    } catch (error) {
      if (!(error instanceof ProofError)) throw error
    }
  }
  return logContinues(log, { size, root })
}

function openedBy(keys: Parameters<typeof openCheckpoint>[1], note: string): LogCheckpoint | null {
  try {
    return openCheckpoint(note, keys)
  } catch (error) {
    // A process died while it wrote the file, or a key signed that the log does not know.
    if (error instanceof ProofError) return null
    throw error
  }
}
