import { messageOf } from '../../agent/decisions/thrown.ts'
import { versions } from '../../agent/events/events.ts'
import { digestOf, FOLD } from '../../agent/state/digest.ts'
import { type AgentState, BLANK } from '../../agent/state/state.ts'
import { canonicalText } from '../../log/canonical.ts'
import { agentStream, sha256 } from '../../log/ids.ts'
import type { Json } from '../../log/json.ts'
import type { Head, SnapshotStore } from '../../ports.ts'
import type { RuntimePorts } from '../ports.ts'
import type { Stores } from './bodies.ts'
import { headOf } from './history.ts'
import { specOf } from './spec.ts'

/** A snapshot is kept about every so many events. */
export const SNAPSHOT_EVERY = 256

/** Raise it where a part of the state gets another shape that its digest does not see. */
const SNAPSHOT = 1

/** What a state of this program is made of and folded from. */
const SHAPE = canonicalText({ snapshot: SNAPSHOT, fold: FOLD, members: Object.keys(BLANK).sort(), versions })

type Cached = Stores & { readonly snapshots?: SnapshotStore } & Pick<RuntimePorts, 'warn'>

/** What is kept of a state. Its spec is not: that is the log's to tell, whoever writes to the cache. */
type Folded = Omit<AgentState, 'spec'>

/** Tells damage, and states of other programs, in all that the digest leaves out. It is no proof against malice. */
const sumOf = (state: Folded): string => sha256(`${SHAPE}\n${canonicalText(state)}`)

/**
 * The latest usable snapshot of an agent, or null. A snapshot is believed only where it is whole, of this program's shape,
 * and the log holds its very digest at its revision; anything else is left aside, and the fold starts from the beginning.
 */
export async function fromSnapshot(
  ports: Cached,
  agentId: string,
  upTo: { revision?: number; step?: number },
): Promise<{ state: AgentState; head: Head } | null> {
  const kept = await fromCache(ports, agentId, upTo)
  if (kept === null) return null
  for await (const page of ports.log.read(agentStream(agentId), { from: kept.revision, limit: 1, bodies: false })) {
    const recorded = page[0]
    const digest = recorded?.header.digest
    if (recorded === undefined || digest?.fold !== FOLD) return null
    const told = await specOf(ports, agentId)
    if (told === null || told.hash !== kept.specHash) return null
    const state = { ...kept, spec: told.spec }
    return digestOf(state) === digest.value ? { state, head: headOf(recorded) } : null
  }
  return null
}

/** What cannot be had from a cache is folded, however it fails; somebody is told why that takes so long. */
async function fromCache(
  { snapshots, warn }: Cached,
  agentId: string,
  upTo: { revision?: number; step?: number },
): Promise<Folded | null> {
  try {
    const found = await snapshots?.latest(agentId, FOLD, upTo)
    const kept = found ? wholeOf(found.state) : null
    return kept?.agentId === agentId && kept.revision === found?.revision ? kept : null
  } catch (error) {
    warn?.(agentId, `no snapshot could be had, so all events are read: ${messageOf(error)}`)
    return null
  }
}

function wholeOf(found: Json): Folded | null {
  const { sum, state } = (found ?? {}) as { readonly sum?: string; readonly state?: Folded }
  return state !== undefined && sum === sumOf(state) ? state : null
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
    const { spec: _, ...kept } = state
    const { revision, step, agentId } = kept
    const snapshot = { sum: sumOf(kept), state: kept as never }
    const store = this.store
    const put = async () => store.put(agentId, FOLD, { revision, step, state: snapshot })
    put().catch(() => undefined)
  }
}
