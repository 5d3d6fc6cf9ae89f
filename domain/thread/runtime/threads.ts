import type { Actor } from '../../log/envelope.ts'
import { ERASED_FACT } from '../../log/erased.ts'
import { LogError } from '../../log/errors.ts'
import { hex, sha256 } from '../../log/ids.ts'
import type { Json } from '../../log/json.ts'
import type { Random } from '../../ports/index.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import { StreamError } from '../../stream/errors.ts'
import { history } from '../../stream/runtime/history.ts'
import type { Mailbox } from '../../stream/runtime/mailbox.ts'
import type { ReadStores } from '../../stream/runtime/ports.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { entries, entry } from '../../stream/table.ts'
import { type CheckpointToSave, type ThreadCommand, thread, type WritesToSave } from '../aggregate.ts'
import type { Serialized, ThreadEvent } from '../events.ts'
import { keyOf, type SavedCheckpoint, type ThreadState, versionIn } from '../state.ts'

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

/** Returns the author of a request. Rejects without the right. */
export type Authorize = (need: 'read' | 'write' | 'erase') => Promise<Actor>

/** Which checkpoints of a thread to list. `before`: only those with a smaller id. */
export interface ListChoice {
  readonly namespace?: string | undefined
  readonly id?: string | undefined
  readonly before?: string | undefined
}

type BodyOf<T extends ThreadEvent['type']> = Extract<ThreadEvent, { type: T }>['body']

type Body = <T extends 'checkpoint_saved' | 'writes_saved'>(revision: number, type: T) => Promise<BodyOf<T>>

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

  /**
   * Saves a checkpoint. A value that the thread has already, under any version, is not stored again. Rejects with
   * SECRET_IN_REQUEST if a name or the bytes of a value contain a secret, which no reference can replace there.
   */
  async save(name: string, given: CheckpointToSave): Promise<void> {
    const { namespace, id, parent } = given
    await this.#mustNotName([name, namespace, id, parent ?? '', ...given.values.map(({ channel }) => channel)])
    const [checkpoint, metadata] = await Promise.all([this.#hidden(given.checkpoint), this.#hidden(given.metadata)])
    const values = await Promise.all(
      given.values.map(async (one) => ({ ...one, value: await this.#hidden(one.value) })),
    )
    await this.#submit(name, { ...given, kind: 'save', thread: name, checkpoint, metadata, values })
  }

  /** Saves writes of a task. Rejects as {@link save} does. */
  async write(name: string, given: WritesToSave): Promise<void> {
    const { namespace, checkpoint, task, path } = given
    await this.#mustNotName([name, namespace, checkpoint, task, path, ...given.writes.map(({ channel }) => channel)])
    const writes = await Promise.all(
      given.writes.map(async (one) => ({ ...one, value: await this.#hidden(one.value) })),
    )
    await this.#submit(name, { ...given, kind: 'write', thread: name, writes })
  }

  /**
   * Deletes a thread and erases its texts permanently. Later checkpoints stay. Repeating the call is
   * safe, and finishes an interrupted one. Rejects as the function `erase` does, such as with HELD or ERASE_IMPOSSIBLE,
   * before anything changes.
   */
  async delete(name: string): Promise<void> {
    const by = await this.#authorize('erase')
    const mailbox = await this.#current(name)
    if (mailbox.state === null) return
    const { streams } = this.#ports
    await streams.erasable(mailbox.stream, { all: true }, by)
    await mailbox.submit({ kind: 'delete' }, this.#asking(by), { fact: false })
    const to = mailbox.state.deleted
    if (to === null) return
    await streams.erase(mailbox.stream, { all: true, to }, { reason: 'the thread was deleted' }, this.#asking(by))
  }

  /** A checkpoint by its id; without one, the newest of its namespace. */
  async get(name: string, namespace: string, id: string | undefined): Promise<StoredCheckpoint | undefined> {
    await this.#authorize('read')
    const { state, stream } = await this.#current(name)
    if (state === null) return undefined
    const found = id === undefined ? newest(state, namespace) : entry(state.checkpoints, keyOf(namespace, id))
    return found && this.#stored(stream, state, name, found)
  }

  /** The checkpoints of a thread, or of all; newest first in each thread. */
  async *list(name: string | undefined, choice: ListChoice = {}): AsyncGenerator<StoredCheckpoint> {
    await this.#authorize('read')
    for await (const stream of name === undefined ? this.#ports.list() : [`${thread.kind}-${idOf(name)}`]) {
      const { state } = await this.#refreshed(stream.slice(thread.kind.length + 1))
      if (state === null) continue
      for (const found of newestFirst(state, choice))
        yield await this.#stored(stream, state, name ?? state.thread ?? '', found)
    }
  }

  async #stored(stream: string, state: ThreadState, name: string, saved: SavedCheckpoint): Promise<StoredCheckpoint> {
    const { namespace, id, parent } = saved
    const bodies = this.#bodies(stream)
    const body = await bodies(saved.revision, 'checkpoint_saved')
    return {
      ...{ thread: name, namespace, id, parent },
      checkpoint: readable(body.checkpoint, id),
      metadata: readable(body.metadata, id),
      value: async (channel, version) => {
        const known = versionIn(state, saved, channel, version)
        if (known === undefined) return undefined
        const place = known.hash === null ? undefined : entry(state.values, known.hash)
        const holder = place && (await bodies(place.revision, 'checkpoint_saved'))
        return readable(holder?.values[place!.at]?.value ?? null, id)
      },
      writes: () =>
        Promise.all(
          (entry(state.writes, keyOf(namespace, id)) ?? []).map(async ({ task, path, index, revision, at }) => {
            const { channel, value } = (await bodies(revision, 'writes_saved')).writes[at]!
            return { task, path, index, channel, value: readable(value, id) }
          }),
        ),
    }
  }

  /** Reads bodies by revision and type, each event once. */
  #bodies(stream: string): Body {
    const read = new Map<number, Promise<unknown>>()
    return <T extends 'checkpoint_saved' | 'writes_saved'>(revision: number, type: T) => {
      const found = read.get(revision) ?? this.#body(stream, revision, type)
      read.set(revision, found)
      return found as Promise<BodyOf<T>>
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
    const by = await this.#authorize('write')
    await (await this.#current(name)).submit(command, this.#asking(by), { fact: false })
  }

  #asking(by: Actor) {
    return { by, commandId: `request:${hex(this.#ports.random.bytes(16))}` }
  }

  /** Names must stay as they are: a program that meets another name than it gave loses the value. */
  async #mustNotName(names: readonly string[]): Promise<void> {
    if (!(await this.#hides([...names]))) return
    const what = 'the thread, or a namespace, checkpoint, task or channel of it, contains a secret in its name'
    throw new StreamError('SECRET_IN_REQUEST', `${what}; nothing was saved: give it another name`, { why: 'invalid' })
  }

  async #hides(value: Json): Promise<boolean> {
    return JSON.stringify(await this.#ports.streams.hide(value)) !== JSON.stringify(value)
  }

  /** A value without those of secrets. Values without secrets keep their exact text. Bytes with one are refused. */
  async #hidden(given: Serialized): Promise<Serialized> {
    if (given.base64 !== undefined && (await this.#hides([given.base64, bytesAsText(given.base64)]))) {
      const what = `a value of the type "${given.type}" contains a secret in its bytes, where no reference can replace it`
      const how = 'nothing was saved: keep the secret out of the state, and read it where it is used'
      throw new StreamError('SECRET_IN_REQUEST', `${what}; ${how}`, { why: 'invalid' })
    }
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
    const mailbox = this.#open.get(id) ?? this.#mailbox(id)
    // The map keeps the order of use.
    this.#open.delete(id)
    this.#open.set(id, mailbox)
    const [oldest] = this.#open.keys()
    if (this.#open.size > OPEN_THREADS && oldest !== undefined) this.#open.delete(oldest)
    await mailbox.refresh()
    return mailbox
  }

  #mailbox(id: string): ThreadMailbox {
    const mailbox = this.#ports.streams.mailbox(thread, id) as ThreadMailbox
    // An erasure empties values that the state still has a place for.
    mailbox.listen((events) => {
      if (events.some(({ header }) => header.type === ERASED_FACT)) mailbox.forget()
    })
    return mailbox
  }
}

/** The newest checkpoint of a namespace. Ids sort by time. */
function newest({ checkpoints }: ThreadState, namespace: string): SavedCheckpoint | undefined {
  let found: SavedCheckpoint | undefined
  for (const one of entries(checkpoints))
    if (one.namespace === namespace && (found === undefined || one.id > found.id)) found = one
  return found
}

const newestFirst = ({ checkpoints }: ThreadState, { namespace, id, before }: ListChoice): readonly SavedCheckpoint[] =>
  entries(checkpoints)
    .filter((one) => namespace === undefined || one.namespace === namespace)
    .filter((one) => (id === undefined || one.id === id) && (before === undefined || one.id < before))
    .sort((a, b) => (a.id < b.id ? 1 : -1))

const bytesAsText = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')

function readable(value: Serialized | null, id: string): Serialized {
  if (value !== null) return value
  throw new LogError('BODY_ERASED', `a value of checkpoint ${id} was erased; delete the thread to begin anew`)
}
