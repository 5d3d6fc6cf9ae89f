import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  copyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
} from '@langchain/langgraph-checkpoint'
import type { Serialized } from '../../../domain/thread/events.ts'
import type { StoredCheckpoint, Threads } from '../../../domain/thread/runtime/threads.ts'
import type { KeepUp } from '../keepup.ts'

/** Options of {@link KeepUpSaver}. */
export interface SaverOptions {
  /** The person who is recorded as the author. Absent: that of the data folder's settings. */
  readonly by?: string
  /** Absent: that of LangGraph, which is JSON with LangChain's classes. */
  readonly serde?: SerializerProtocol
}

/** The format from which on checkpoints contain the sends to tasks themselves. */
const SENDS_INSIDE = 4

/**
 * A LangGraph checkpointer over keepup's log: a stream for each thread, a value for each version of a channel, and
 * nothing twice. `deleteThread` erases. Secrets of keepup's vault are replaced by references before they are recorded.
 */
export class KeepUpSaver extends BaseCheckpointSaver {
  readonly #threads: Threads

  constructor(keepup: Pick<KeepUp, 'threads'>, { by, serde }: SaverOptions = {}) {
    super(serde)
    this.#threads = keepup.threads(by)
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread, namespace = '' } = placeOf(config)
    if (thread === undefined) return undefined
    const id = getCheckpointId(config) || undefined
    const found = await this.#threads.get(thread, namespace, id)
    return found && this.#tuple(found)
  }

  async *list(
    config: RunnableConfig,
    { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread, namespace } = placeOf(config)
    const id = getCheckpointId(config) || undefined
    const end = (before && getCheckpointId(before)) || undefined
    let left = limit
    if (left <= 0) return
    for await (const found of this.#threads.list(thread, { namespace, id, before: end })) {
      const metadata = await this.#load<Record<string, unknown>>(found.metadata)
      if (!Object.entries(filter).every(([key, value]) => metadata[key] === value)) continue
      yield await this.#tuple(found)
      if (--left <= 0) return
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, namespace = '' } = placeOf(config)
    const name = required(thread, 'thread_id', 'put a checkpoint')
    const { channel_values: values, ...rest } = copyCheckpoint(checkpoint)
    // LangGraph puts a copy beside its source, whose values it does not inherit, and names no new version.
    const versions = metadata.source === 'fork' ? checkpoint.channel_versions : newVersions
    const changed = Object.entries(versions).filter(([channel]) => Object.hasOwn(values, channel))
    await this.#threads.save(name, {
      namespace,
      id: checkpoint.id,
      parent: getCheckpointId(config) || null,
      checkpoint: await this.#dump(rest),
      metadata: await this.#dump(metadata),
      values: await Promise.all(
        changed.map(async ([channel, version]) => ({ channel, version, value: await this.#dump(values[channel]) })),
      ),
    })
    return configOf(name, namespace, checkpoint.id)
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ''): Promise<void> {
    const { thread, namespace = '' } = placeOf(config)
    const name = required(thread, 'thread_id', 'put writes')
    const checkpoint = required(getCheckpointId(config) || undefined, 'checkpoint_id', 'put writes')
    const saved = writes.map(async ([channel, value], at) => ({
      channel,
      index: WRITES_IDX_MAP[channel] ?? at,
      value: await this.#dump(value),
    }))
    await this.#threads.write(name, {
      namespace,
      checkpoint,
      task: taskId,
      path: taskPath,
      writes: await Promise.all(saved),
    })
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#threads.delete(threadId)
  }

  async #tuple(found: StoredCheckpoint): Promise<CheckpointTuple> {
    const { thread, namespace, id, parent } = found
    const checkpoint = await this.#load<Checkpoint>(found.checkpoint)
    const loaded = await Promise.all(
      Object.entries(checkpoint.channel_versions).map(async ([channel, version]) => {
        const value = await found.value(channel, version)
        return value === undefined ? [] : [[channel, await this.#load<unknown>(value)] as const]
      }),
    )
    checkpoint.channel_values = Object.fromEntries(loaded.flat())
    if (checkpoint.v < SENDS_INSIDE && parent !== null) await this.#addSends(checkpoint, found)
    return {
      config: configOf(thread, namespace, id),
      checkpoint,
      metadata: await this.#load<CheckpointMetadata>(found.metadata),
      pendingWrites: await this.#writes(found),
      ...(parent !== null && { parentConfig: configOf(thread, namespace, parent) }),
    }
  }

  /** Checkpoints before format 4 have the sends to tasks as writes of their parent. */
  async #addSends(checkpoint: Checkpoint, { thread, namespace, parent }: StoredCheckpoint): Promise<void> {
    const before = await this.#threads.get(thread, namespace, parent ?? undefined)
    const writes = before === undefined ? [] : await this.#writes(before)
    checkpoint.channel_values[TASKS] = writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value)
    const versions = Object.values(checkpoint.channel_versions)
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined)
  }

  async #writes(found: StoredCheckpoint): Promise<CheckpointPendingWrite[]> {
    const writes = (await found.writes()).map((write) => ({
      ...write,
      key: writesSortKey(write.path, write.task, write.index),
    }))
    writes.sort((a, b) => compareWritesSortKeys(a.key, b.key))
    return Promise.all(
      writes.map(
        async ({ task, channel, value }) => [task, channel, await this.#load(value)] as CheckpointPendingWrite,
      ),
    )
  }

  async #dump(value: unknown): Promise<Serialized> {
    const [type, bytes] = await this.serde.dumpsTyped(value)
    const buffer = Buffer.from(bytes)
    return type === 'json' ? { type, text: buffer.toString('utf8') } : { type, base64: buffer.toString('base64') }
  }

  async #load<T>({ type, text, base64 }: Serialized): Promise<T> {
    return this.serde.loadsTyped(type, text ?? Buffer.from(base64 ?? '', 'base64'))
  }
}

/** The part of `configurable` that names a place. */
function placeOf({ configurable = {} }: RunnableConfig): {
  readonly thread: string | undefined
  readonly namespace: string | undefined
} {
  const { thread_id: thread, checkpoint_ns: namespace } = configurable
  for (const [key, value] of Object.entries({ thread_id: thread, checkpoint_ns: namespace }))
    if (value !== undefined && typeof value !== 'string')
      throw new TypeError(`"${key}" in "configurable" is ${typeof value}; give a string`)
  return { thread, namespace }
}

const configOf = (thread: string, namespace: string, id: string): RunnableConfig => ({
  configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id },
})

function required(value: string | undefined, key: string, what: string): string {
  if (value !== undefined) return value
  throw new TypeError(`cannot ${what} without "${key}"; give it in "configurable" of the config`)
}
