import { digestOf, FOLD } from '../../agent/state/digest.ts'
import type { AgentState } from '../../agent/state/state.ts'
import { agentStream } from '../../log/ids.ts'
import type { EventLog, Head, SnapshotStore } from '../../ports.ts'
import { headOf } from './history.ts'

/** A snapshot is kept about every so many events. */
export const SNAPSHOT_EVERY = 256

/**
 * The latest usable snapshot of an agent, or null. A snapshot is believed only where the log holds its very digest at its
 * revision; anything else is left aside, and the fold starts from the beginning.
 */
export async function fromSnapshot(
  ports: { readonly log: EventLog; readonly snapshots?: SnapshotStore },
  agentId: string,
  upTo: { revision?: number; step?: number },
): Promise<{ state: AgentState; head: Head } | null> {
  // A cache: what cannot be had from it is folded.
  const found = await ports.snapshots?.latest(agentId, FOLD, upTo).catch(() => null)
  if (!found) return null
  const state = found.state as unknown as AgentState
  for await (const page of ports.log.read(agentStream(agentId), { from: found.revision, limit: 1, bodies: false })) {
    const recorded = page[0]
    const digest = recorded?.header.digest
    if (recorded === undefined || digest?.fold !== FOLD) return null
    if (state.agentId !== agentId || state.revision !== found.revision || digestOf(state) !== digest.value) return null
    return { state, head: headOf(recorded) }
  }
  return null
}

/** Keeps a snapshot when enough has been appended since the last one. Losing one loses nothing. */
export class Snapshotter {
  private readonly store: SnapshotStore | undefined
  private last: number

  constructor(store: SnapshotStore | undefined, last: number) {
    this.store = store
    this.last = last
  }

  /** `state` is that after the last event of an append, which carries its digest. */
  consider(state: AgentState): void {
    if (this.store === undefined || state.revision - this.last < SNAPSHOT_EVERY) return
    this.last = state.revision
    const { revision, step, agentId } = state
    this.store.put(agentId, FOLD, { revision, step, state: state as never }).catch(() => undefined)
  }
}
