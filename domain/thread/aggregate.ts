import { sha256 } from '../log/ids.ts'
import { defineKind } from '../stream/define-kind.ts'
import type { Emit } from '../stream/emitter.ts'
import { entry } from '../stream/table.ts'
import { type Serialized, threadBodies } from './events.ts'
import { evolveThread, inheritedVersion, keyOf, THREAD_FOLD, type ThreadState, threadDigest } from './state.ts'

/** A checkpoint to save. `values`: of the channels that have a new version. */
export interface CheckpointToSave {
  readonly namespace: string
  readonly id: string
  readonly parent: string | null
  readonly checkpoint: Serialized
  readonly metadata: Serialized
  readonly values: readonly {
    readonly channel: string
    readonly version: string | number
    readonly value: Serialized
  }[]
}

/** Writes of a task to save. A write with an index that the task has already is kept; a negative one is replaced. */
export interface WritesToSave {
  readonly namespace: string
  readonly checkpoint: string
  readonly task: string
  readonly path: string
  readonly writes: readonly { readonly channel: string; readonly index: number; readonly value: Serialized }[]
}

export type ThreadCommand =
  | ({ readonly kind: 'save'; readonly thread: string } & CheckpointToSave)
  | ({ readonly kind: 'write'; readonly thread: string } & WritesToSave)
  | { readonly kind: 'delete' }

/** The checkpoints of a program that keeps its state in threads, such as a LangGraph app: `thread-<id>`. */
export const thread = defineKind({
  kind: 'thread',
  bodies: threadBodies,
  fold: THREAD_FOLD,
  evolve: evolveThread,
  decide,
  digest: threadDigest,
  residues: {
    thread_opened: () => ({ thread: null }),
    checkpoint_saved: (body) => ({
      ...body,
      checkpoint: null,
      metadata: null,
      values: body.values.map((one) => ({ ...one, hash: null, value: null })),
    }),
    writes_saved: (body) => ({ ...body, writes: body.writes.map((one) => ({ ...one, value: null })) }),
  },
})

function decide(state: ThreadState | null, command: ThreadCommand, emit: Emit<typeof threadBodies>): void {
  if (command.kind === 'delete') {
    if (state !== null && (state.thread !== null || state.checkpoints.size > 0 || state.writes.size > 0))
      emit('thread_deleted', {})
    return
  }
  if (state === null || state.thread === null) emit('thread_opened', { thread: command.thread })
  if (command.kind === 'write') return decideWrites(state, command, emit)
  const { kind: _, thread: __, values, ...saved } = command
  const known = new Set<string>()
  const added = values.flatMap(({ channel, version, value }) => {
    const hash = hashOf(value)
    const before = state && entry(state.versions, keyOf(saved.namespace, channel, version))
    const readable = state !== null && entry(state.values, hash) !== undefined
    if (readable && before && inheritedVersion(state, saved.namespace, saved, before)?.hash === hash) return []
    const stored = readable || known.has(hash)
    known.add(hash)
    return [{ channel, version, hash, value: stored ? null : value }]
  })
  emit('checkpoint_saved', { ...saved, values: added })
}

function decideWrites(
  state: ThreadState | null,
  { kind: _, thread: __, writes, ...saved }: Extract<ThreadCommand, { kind: 'write' }>,
  emit: Emit<typeof threadBodies>,
): void {
  const before = (state && entry(state.writes, keyOf(saved.namespace, saved.checkpoint))) ?? []
  const has = new Set(before.filter(({ task }) => task === saved.task).map(({ index }) => index))
  const added = writes.filter(({ index }) => index < 0 || !has.has(index))
  if (added.length > 0) emit('writes_saved', { ...saved, writes: added })
}

const hashOf = ({ type, text, base64 }: Serialized): string =>
  sha256(JSON.stringify([type, text ?? null, base64 ?? null]))
