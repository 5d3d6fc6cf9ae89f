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

/** The value of a channel's version as a checkpoint saved it. `hash` null: it was erased. */
export interface SavedVersion {
  readonly checkpoint: string
  readonly hash: string | null
}

/** An index of a thread's checkpoints, values and writes by revision. It contains no values. */
export interface ThreadState {
  /** Null: the name was erased, or the thread was deleted and not used since. */
  readonly thread: string | null
  /** The revision of the last deletion; null: none. */
  readonly deleted: number | null
  /** By {@link keyOf} of namespace and id. */
  readonly checkpoints: Table<SavedCheckpoint>
  /**
   * The values of a channel's version by {@link keyOf} of namespace, channel and version, one for each checkpoint that
   * saved it. Branches of a thread count their versions apart, so one version can have several values.
   */
  readonly versions: Table<readonly SavedVersion[]>
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

const NONE = { checkpoints: EMPTY, versions: EMPTY, values: EMPTY, writes: EMPTY } as const

/** The state after an event. Throws if the event cannot follow. */
export function evolveThread(before: ThreadState | null, event: ThreadEvent): ThreadState {
  const root = appendRoot(before?.root ?? EMPTY_ROOT, event.bodyHash)
  if (event.type === 'thread_opened') {
    if (before !== null && before.thread !== null) throw new Error('thread_opened in a thread that has a name')
    return { ...(before ?? { ...NONE, deleted: null }), thread: event.body.thread, root }
  }
  if (before === null) throw new Error(`${event.type} before thread_opened`)
  switch (event.type) {
    case 'checkpoint_saved':
      return { ...withCheckpoint(before, event), root }
    case 'writes_saved':
      return { ...withWrites(before, event), root }
    case 'thread_deleted':
      return { ...NONE, thread: null, deleted: event.revision, root }
  }
}

function withCheckpoint(
  state: ThreadState,
  { revision, body }: Extract<ThreadEvent, { type: 'checkpoint_saved' }>,
): ThreadState {
  const { namespace, id, parent } = body
  let { versions, values } = state
  body.values.forEach(({ channel, version, hash, value }, at) => {
    const key = keyOf(namespace, channel, version)
    const others = (entry(versions, key) ?? []).filter(({ checkpoint }) => checkpoint !== id)
    versions = withEntry(versions, key, [...others, { checkpoint: id, hash }])
    if (hash !== null && value !== null) values = withEntry(values, hash, { revision, at })
  })
  const saved = { namespace, id, parent, revision }
  return { ...state, versions, values, checkpoints: withEntry(state.checkpoints, keyOf(namespace, id), saved) }
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

/**
 * The value of a channel's version that a checkpoint itself or the nearest of its parents saved; undefined: none did.
 */
export function inheritedVersion(
  state: ThreadState,
  namespace: string,
  { id, parent }: Pick<SavedCheckpoint, 'id' | 'parent'>,
  saved: readonly SavedVersion[],
): SavedVersion | undefined {
  const by = new Map(saved.map((one) => [one.checkpoint, one]))
  const seen = new Set<string>()
  let [at, next]: [string, string | null] = [id, parent]
  for (;;) {
    const found = by.get(at)
    if (found !== undefined || next === null || seen.has(next)) return found
    seen.add(next)
    at = next
    next = entry(state.checkpoints, keyOf(namespace, at))?.parent ?? null
  }
}

/**
 * The value of a channel's version in a checkpoint. A program that names no parents gets the last value that was saved
 * before the checkpoint.
 */
export function versionIn(
  state: ThreadState,
  checkpoint: SavedCheckpoint,
  channel: string,
  version: string | number,
): SavedVersion | undefined {
  const { namespace, revision } = checkpoint
  const saved = entry(state.versions, keyOf(namespace, channel, version)) ?? []
  if (saved.length < 2) return saved[0]
  const before = (one: SavedVersion) =>
    (entry(state.checkpoints, keyOf(namespace, one.checkpoint))?.revision ?? revision) <= revision
  return inheritedVersion(state, namespace, checkpoint, saved) ?? saved.findLast(before) ?? saved[0]
}

/** Hex SHA-256 over the numbers of checkpoints and values, and the root of all bodies. */
export const threadDigest = ({ checkpoints, versions, root }: ThreadState): string =>
  sha256(
    `keepup-thread-fold-${THREAD_FOLD}\n${canonicalText({ checkpoints: checkpoints.size, values: versions.size, root })}`,
  )
