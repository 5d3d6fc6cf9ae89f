import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import { appendRoot, EMPTY_ROOT, type Root } from '../log/root.ts'
import { EMPTY, entry, type Table, withEntry } from '../stream/table.ts'
import type { ThreadEvent } from './events.ts'

/** A value in an event: the revision of the event, and the place in its list. */
export interface Place {
  readonly revision: number
  readonly at: number
}

export interface SavedCheckpoint {
  readonly namespace: string
  readonly id: string
  readonly parent: string | null
  readonly revision: number
}

export interface SavedWrite extends Place {
  readonly task: string
  readonly path: string
  readonly index: number
}

/** An index of a thread's checkpoints, values and writes by revision. It contains no values. */
export interface ThreadState {
  /** Null: the name was erased. */
  readonly thread: string | null
  /** By {@link keyOf} of namespace and id. */
  readonly checkpoints: Table<SavedCheckpoint>
  /** The hash of a channel's value by {@link keyOf} of namespace, channel and version. Null: it was erased. */
  readonly hashes: Table<{ readonly hash: string | null }>
  /** The place of each value by its hash. */
  readonly values: Table<Place>
  /** The writes after a checkpoint, by {@link keyOf} of namespace and id. */
  readonly writes: Table<readonly SavedWrite[]>
  /** A root hash over all bodies in order. */
  readonly root: Root
}

/** Increase this when the digested view changes. */
export const THREAD_FOLD = 1

export const keyOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts)

const NONE = { checkpoints: EMPTY, hashes: EMPTY, values: EMPTY, writes: EMPTY } as const

/** The state after an event. Throws if the event cannot follow. */
export function evolveThread(before: ThreadState | null, event: ThreadEvent): ThreadState {
  const root = appendRoot(before?.root ?? EMPTY_ROOT, event.bodyHash)
  if (event.type === 'thread_opened') {
    if (before !== null) throw new Error('thread_opened after the first event')
    return { ...NONE, thread: event.body.thread, root }
  }
  if (before === null) throw new Error(`${event.type} before thread_opened`)
  switch (event.type) {
    case 'checkpoint_saved':
      return { ...withCheckpoint(before, event), root }
    case 'writes_saved':
      return { ...withWrites(before, event), root }
    case 'thread_deleted':
      return { ...NONE, thread: before.thread, root }
  }
}

function withCheckpoint(
  state: ThreadState,
  { revision, body }: Extract<ThreadEvent, { type: 'checkpoint_saved' }>,
): ThreadState {
  const { namespace, id, parent } = body
  let { hashes, values } = state
  body.values.forEach(({ channel, version, hash, value }, at) => {
    hashes = withEntry(hashes, keyOf(namespace, channel, version), { hash })
    if (hash !== null && value !== null) values = withEntry(values, hash, { revision, at })
  })
  const saved = { namespace, id, parent, revision }
  return { ...state, hashes, values, checkpoints: withEntry(state.checkpoints, keyOf(namespace, id), saved) }
}

function withWrites(
  state: ThreadState,
  { revision, body }: Extract<ThreadEvent, { type: 'writes_saved' }>,
): ThreadState {
  const key = keyOf(body.namespace, body.checkpoint)
  const { task, path } = body
  const added = body.writes.map(({ index }, at): SavedWrite => ({ task, path, index, revision, at }))
  const indices = new Set(added.map(({ index }) => index))
  const kept = (entry(state.writes, key) ?? []).filter((one) => one.task !== task || !indices.has(one.index))
  return { ...state, writes: withEntry(state.writes, key, [...kept, ...added]) }
}

/** Hex SHA-256 over the numbers of checkpoints and values, and the root of all bodies. */
export const threadDigest = ({ checkpoints, hashes, root }: ThreadState): string =>
  sha256(
    `keepup-thread-fold-${THREAD_FOLD}\n${canonicalText({ checkpoints: checkpoints.size, values: hashes.size, root })}`,
  )
