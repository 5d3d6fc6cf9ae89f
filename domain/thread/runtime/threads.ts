import type { Actor } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { hex, sha256 } from '../../log/ids.ts'
import type { Json } from '../../log/json.ts'
import type { Random } from '../../ports/index.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import { history } from '../../stream/runtime/history.ts'
import type { Mailbox } from '../../stream/runtime/mailbox.ts'
import type { ReadStores } from '../../stream/runtime/ports.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { entries, entry } from '../../stream/table.ts'
import { type CheckpointToSave, type ThreadCommand, thread, type WritesToSave } from '../aggregate.ts'
import type { Serialized, ThreadEvent } from '../events.ts'
import { keyOf, type SavedCheckpoint, type ThreadState } from '../state.ts'

export interface ThreadPorts extends ReadStores {
  readonly streams: Streams
  readonly random: Random
  /** The names of all streams of threads. The list contains everything that is recorded. */
  list(): AsyncIterable<string>
}

/** A checkpoint with its parts, still serialised. */
export interface StoredCheckpoint {
  readonly thread: string
  readonly namespace: string
  readonly id: string
  readonly parent: string | null
  readonly checkpoint: Serialized
  readonly metadata: Serialized
  /** The value of a channel at a version; undefined: never saved. */
  value(channel: string, version: string | number): Promise<Serialized | undefined>
  /** The writes after it, unordered. */
  writes(): Promise<readonly StoredWrite[]>
}

export interface StoredWrite {
  readonly task: string
  readonly path: string
  readonly index: number
  readonly channel: string
  readonly value: Serialized
}

/** Returns the author of a read or change. Rejects without the right. */
export type Authorize = (change: boolean) => Promise<Actor>

type BodyOf<T extends ThreadEvent['type']> = Extract<ThreadEvent, { type: T }>['body']

type ThreadMailbox = Mailbox<ThreadState, ThreadEvent, ThreadCommand, CausedContext>

/** The most threads whose state stays in memory. */
const OPEN_THREADS = 200
/** Thread names that are the stream's id. Other names are hashed. */
const PLAIN = /^(?!h_)[A-Za-z0-9_-]{1,64}$/

const idOf = (name: string): string => (PLAIN.test(name) ? name : `h_${sha256(name).slice(0, 40)}`)

/** Threads of checkpoints in the log. A change is durable when its promise resolves. */
export class Threads {
  readonly #ports: ThreadPorts
  readonly #authorize: Authorize
  readonly #open = new Map<string, ThreadMailbox>()

  constructor(ports: ThreadPorts, authorize: Authorize) {
    this.#ports = ports
    this.#authorize = authorize
  }

  /** Saves a checkpoint. A value that the thread has already, under any version, is not stored again. */
  async save(name: string, given: CheckpointToSave): Promise<void> {
    const [checkpoint, metadata] = await Promise.all([this.#hidden(given.checkpoint), this.#hidden(given.metadata)])
    const values = await Promise.all(
      given.values.map(async (one) => ({ ...one, value: await this.#hidden(one.value) })),
    )
    await this.#submit(name, { ...given, kind: 'save', thread: name, checkpoint, metadata, values })
  }

  async write(name: string, given: WritesToSave): Promise<void> {
    const writes = await Promise.all(
      given.writes.map(async (one) => ({ ...one, value: await this.#hidden(one.value) })),
    )
    await this.#submit(name, { ...given, kind: 'write', thread: name, writes })
  }

  /**
   * Deletes a thread and erases its texts permanently. Repeating the call is safe. Rejects with ERASE_IMPOSSIBLE, before
   * anything changes, when the log cannot erase.
   */
  async delete(name: string): Promise<void> {
    const by = await this.#authorize(true)
    const mailbox = await this.#current(name)
    if (mailbox.state === null) return
    const { streams, log } = this.#ports
    if (!log.erases)
      throw new LogError(
        'ERASE_IMPOSSIBLE',
        'this log cannot erase, so the thread was not deleted; use an embedded log',
      )
    await mailbox.submit({ kind: 'delete' }, this.#asking(by), { fact: false })
    const erasable = { all: true } as const
    await streams.erase(mailbox.stream, erasable, { reason: 'the thread was deleted' }, this.#asking(by))
    mailbox.forget()
  }

  /** A checkpoint by its id; without one, the newest of its namespace. */
  async get(name: string, namespace: string, id: string | undefined): Promise<StoredCheckpoint | undefined> {
    await this.#authorize(false)
    const { state, stream } = await this.#current(name)
    if (state === null) return undefined
    const found = id === undefined ? newestFirst(state, namespace)[0] : entry(state.checkpoints, keyOf(namespace, id))
    return found && this.#stored(stream, state, name, found)
  }

  /** The checkpoints of a thread, or of all; newest first in each thread. */
  async *list(name: string | undefined, namespace: string | undefined): AsyncGenerator<StoredCheckpoint> {
    await this.#authorize(false)
    for await (const stream of name === undefined ? this.#ports.list() : [`${thread.kind}-${idOf(name)}`]) {
      const { state } = await this.#refreshed(stream.slice(thread.kind.length + 1))
      if (state === null) continue
      for (const found of newestFirst(state, namespace))
        yield await this.#stored(stream, state, name ?? state.thread ?? '', found)
    }
  }

  async #stored(stream: string, state: ThreadState, name: string, saved: SavedCheckpoint): Promise<StoredCheckpoint> {
    const { namespace, id, parent } = saved
    const body = await this.#body(stream, saved.revision, 'checkpoint_saved')
    return {
      ...{ thread: name, namespace, id, parent },
      checkpoint: readable(body.checkpoint, id),
      metadata: readable(body.metadata, id),
      value: async (channel, version) => {
        const known = entry(state.hashes, keyOf(namespace, channel, version))
        if (known === undefined) return undefined
        const place = known.hash === null ? undefined : entry(state.values, known.hash)
        const holder = place && (await this.#body(stream, place.revision, 'checkpoint_saved'))
        return readable(holder?.values[place!.at]?.value ?? null, id)
      },
      writes: () =>
        Promise.all(
          (entry(state.writes, keyOf(namespace, id)) ?? []).map(async ({ task, path, index, revision, at }) => {
            const { channel, value } = (await this.#body(stream, revision, 'writes_saved')).writes[at]!
            return { task, path, index, channel, value: readable(value, id) }
          }),
        ),
    }
  }

  async #body<T extends 'checkpoint_saved' | 'writes_saved'>(
    stream: string,
    revision: number,
    type: T,
  ): Promise<BodyOf<T>> {
    const at = { from: revision, to: revision }
    for await (const [found] of history(this.#ports, thread, stream, at))
      if (found?.event.type === type) return found.event.body as BodyOf<T>
    throw new LogError('LOG_CORRUPT', `${stream} has no ${type} at revision ${revision}; check it with keepup verify`)
  }

  async #submit(name: string, command: ThreadCommand): Promise<void> {
    const by = await this.#authorize(true)
    await (await this.#current(name)).submit(command, this.#asking(by), { fact: false })
  }

  #asking(by: Actor) {
    return { by, commandId: `request:${hex(this.#ports.random.bytes(16))}` }
  }

  /** A value without those of secrets. Values without secrets keep their exact text. */
  async #hidden(given: Serialized): Promise<Serialized> {
    if (given.text === undefined) return given
    const json = given.type === 'json'
    const value = json ? (JSON.parse(given.text) as Json) : given.text
    const hidden = await this.#ports.streams.hide(value)
    if (JSON.stringify(hidden) === JSON.stringify(value)) return given
    return { ...given, text: json ? JSON.stringify(hidden) : String(hidden) }
  }

  #current(name: string): Promise<ThreadMailbox> {
    return this.#refreshed(idOf(name))
  }

  /** The mailbox of a thread with everything that others have recorded. */
  async #refreshed(id: string): Promise<ThreadMailbox> {
    const mailbox = this.#open.get(id) ?? this.#ports.streams.mailbox(thread, id)
    // The map keeps the order of use.
    this.#open.delete(id)
    this.#open.set(id, mailbox as ThreadMailbox)
    const [oldest] = this.#open.keys()
    if (this.#open.size > OPEN_THREADS && oldest !== undefined) this.#open.delete(oldest)
    await mailbox.refresh()
    return mailbox as ThreadMailbox
  }
}

/** Ids sort by time. */
const newestFirst = ({ checkpoints }: ThreadState, namespace: string | undefined): SavedCheckpoint[] =>
  entries(checkpoints)
    .filter((one) => namespace === undefined || one.namespace === namespace)
    .sort((a, b) => (a.id < b.id ? 1 : -1))

function readable(value: Serialized | null, id: string): Serialized {
  if (value !== null) return value
  throw new LogError('BODY_ERASED', `a value of checkpoint ${id} was erased; delete the thread to begin anew`)
}
