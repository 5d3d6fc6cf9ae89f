import { CommandRejected } from '../../../calls/errors.ts'
import { agentStream } from '../../../log/ids.ts'
import type { Head, SnapshotStore } from '../../../ports/index.ts'
import type { RuntimePorts } from '../../../ports/runtime.ts'
import type { At } from '../../../stream/point.ts'
import { headOfEvent } from '../../../stream/runtime/history.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import type { AgentEvent } from '../../events/events.ts'
import { evolveAgent } from '../../state/evolve.ts'
import { POINT_TYPES, PointDetails } from '../../state/point-details.ts'
import { type AgentState, turnIsOpen } from '../../state/state.ts'
import { TRANSCRIPT_TYPES, Transcript } from '../../state/transcript.ts'
import type { AgentAt } from '../types.ts'
import { history } from './history.ts'
import type { KeptPoints } from './kept-points.ts'
import { agentSnapshots } from './snapshots.ts'

// Replay: the fold of an agent's events up to a point. It reads only the log and the blobs; models, tools, clocks and
// randomness are not accessible (5.9.3, law 9).

interface Ports extends Stores, Pick<RuntimePorts, 'warn'> {
  readonly snapshots?: SnapshotStore
}

/**
 * The folded state at a point, from the nearest snapshot. Rejects with CommandRejected RUN_UNKNOWN or POINT_UNKNOWN.
 */
export async function agentStateAt(
  ports: Ports,
  agentId: string,
  asked: At,
): Promise<{ state: AgentState; head: Head }> {
  // Step 0 is the agent at its start; no step event exists for it.
  const at = asked !== null && 'step' in asked && asked.step === 0 ? { revision: 0 } : asked
  // The search finds a step at its event, so the snapshot must precede that event.
  const stream = agentStream(agentId)
  const upTo = at === null ? {} : 'step' in at ? { step: at.step - 1 } : at
  const latest = await agentSnapshots.latest(ports, stream, 'turn' in upTo ? await startOf(ports, stream, upTo) : upTo)
  const snapshot = latest !== null && at !== null && 'turn' in at && isPast(latest.state, at) ? null : latest
  if (snapshot !== null && at !== null && reaches(snapshot.state, at)) return snapshot
  const from = snapshot === null ? {} : { from: snapshot.head.revision + 1 }
  return replayTo(ports, agentId, at, snapshot, from)
}

/**
 * The files at a point: the tree of its state, or of the version that was due there and is recorded later (see
 * `workspace_versioned`). Null: none. Rejects like {@link agentStateAt}.
 */
export async function treeAt(
  ports: Ports,
  agentId: string,
  at: At,
): Promise<{ state: AgentState; tree: string | null }> {
  const { state, head } = await agentStateAt(ports, agentId, at)
  const { tree, unversioned } = state
  if (unversioned === null) return { state, tree }
  // Reads the stream of the point, which for a fork may be that of its source.
  for await (const page of history(ports, state.agentId, { from: head.revision + 1 })) {
    for (const { event } of page) {
      if (event.type !== 'workspace_versioned' || event.body.step < unversioned.to) continue
      return { state, tree: 'tree' in event.body ? event.body.tree : tree }
    }
  }
  return { state, tree }
}

const TYPES = [...new Set<string>([...TRANSCRIPT_TYPES, ...POINT_TYPES])]

/**
 * The state at a point with the messages that the model would see there. Reads the relevant events before it: all, or
 * those after the nearest cached point.
 */
export async function agentAt(ports: Ports, agentId: string, asked: At, kept?: KeptPoints): Promise<AgentAt> {
  const { state, head } = await agentStateAt(ports, agentId, asked)
  // A point of a fork may belong to its source.
  const { agentId: owner } = state
  const { revision, hash } = head
  const { position } = kept === undefined ? { position: 0 } : await ports.log.headCursor()
  const last = kept === undefined ? null : await ports.log.head(agentStream(owner))
  const before = (await kept?.nearest(owner, revision)) ?? null
  // The cached point itself is returned unchanged, so it needs no copy.
  const own =
    before?.revision === revision ? before : { transcript: before?.transcript.copy(), details: before?.details.copy() }
  const { transcript = new Transcript(), details = new PointDetails() } = own
  // An erasure before a body is read is already reflected in it.
  const streams = new Map(before?.streams).set(agentStream(owner), last?.revision ?? revision)
  const range = { from: before === null ? 0 : before.revision + 1, to: revision, types: TYPES }
  if (range.from <= revision) {
    for await (const page of history(ports, owner, range)) {
      for (const { event, recorded } of page) {
        transcript.push(event)
        details.push(event, recorded.erased === true)
        const { stream, revision: read } = recorded.header
        streams.set(stream, Math.max(streams.get(stream) ?? -1, read))
      }
    }
  }
  kept?.keep({ agentId: owner, revision, hash, transcript, details, streams, position })
  return { state, head, messages: transcript.messages, facts: details.facts }
}

async function replayTo(
  stores: Stores,
  agentId: string,
  at: At,
  start: { state: AgentState; head: Head } | null,
  from: { from?: number },
): Promise<{ state: AgentState; head: Head }> {
  let state = start?.state ?? null
  let head = start?.head ?? null
  const to = at !== null && 'revision' in at ? { to: at.revision } : {}
  for await (const page of history(stores, agentId, { ...from, ...to })) {
    for (const { event, recorded } of page) {
      state = evolveAgent(state, event)
      head = headOfEvent(recorded)
      if (at !== null && !('revision' in at) && isPoint(event, state, at)) return { state, head }
    }
  }
  if (state === null || head === null) throw new CommandRejected('RUN_UNKNOWN', `there is no agent ${agentId}`)
  if (at !== null && !('revision' in at && head.revision === at.revision)) throw unknownPoint(agentId, at, state)
  return { state, head }
}

/** The number of headers that {@link startOf} reads at once. Few events in a row belong to no turn. */
const LOOKED_AT = 16

/**
 * A revision at or before the end of a turn, near its start: a binary search over the turns in the headers. A late event
 * with the number of an earlier turn can mislead the search, so check the snapshot with {@link isPast}.
 */
async function startOf({ log }: Ports, stream: string, { turn }: { turn: number }): Promise<{ revision: number }> {
  let [from, to] = [0, (await log.head(stream))?.revision ?? 0]
  while (from < to) {
    const middle = (from + to) >> 1
    const found = await turnAfter(log, stream, middle)
    if (found !== null && found < turn) from = middle + 1
    else to = middle
  }
  return { revision: from }
}

async function turnAfter(log: Ports['log'], stream: string, from: number): Promise<number | null> {
  for await (const page of log.read(stream, { from, limit: LOOKED_AT, bodies: false }))
    for (const { header } of page) if (header.turn > 0) return header.turn
  return null
}

/** Whether a state is not before the end of a turn. */
const isPast = (state: AgentState, { turn }: { turn: number }): boolean =>
  state.turn > turn || (state.turn === turn && !turnIsOpen(state))

function reaches(state: AgentState, at: Exclude<At, null>): boolean {
  return 'revision' in at && state.revision === at.revision
}

function unknownPoint(agentId: string, at: Exclude<At, null>, state: AgentState): CommandRejected {
  const what =
    'step' in at
      ? `step ${at.step}; its steps are 0 (as it was started) to ${state.step}`
      : 'turn' in at
        ? `end of turn ${at.turn}; its turns are 1 to ${state.turn}`
        : `revision ${at.revision}; its last is ${state.revision}`
  return new CommandRejected('POINT_UNKNOWN', `${agentId} has no ${what}`)
}

/** A step is reached at the event that made it, a turn at its end. */
function isPoint(event: AgentEvent, state: AgentState, at: { step: number } | { turn: number }): boolean {
  if ('step' in at) return (event.type === 'tool_call_end' || event.type === 'turn_end') && state.step === at.step
  return event.type === 'turn_end' && event.turn === at.turn
}
