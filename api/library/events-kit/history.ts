import { aggregateOf, type OwnKind } from '../../../domain/kinds.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { kindOf } from '../../../domain/log/owner.ts'
import { history } from '../../../domain/stream/runtime/history.ts'
import type { ReadStores } from '../../../domain/stream/runtime/ports.ts'
import { ExportHead, ExportLine, NoExport, readLine } from '../../operations/events/export-lines.ts'
import { type AnyEvent, digest, type EventOf, fold, type StateOf } from './fold.ts'

/** A decoded event with its sealed form: header, hash, id and position in the log. */
export interface HistoryEvent<Event = AnyEvent> {
  readonly event: Event
  readonly sealed: RecordedEvent
}

/** A state with the revision of its last event. `digest`: to compare with the header of a checkpoint. */
export interface StateAt<State> {
  readonly state: State
  readonly revision: number
  readonly digest: string
}

/** The events of an export (`keepup export`, `GET /v1/runs/{id}/export`), in memory. */
export class History {
  readonly #streams: ReadonlyMap<string, readonly RecordedEvent[]>
  readonly #stores: ReadStores

  private constructor(streams: ReadonlyMap<string, readonly RecordedEvent[]>, bodies: ReadonlyMap<string, Uint8Array>) {
    this.#streams = streams
    this.#stores = {
      blobs: {
        async get(_, hash) {
          const found = bodies.get(hash)
          if (found !== undefined) return found
          throw new LogError('BLOB_MISSING', `the export has no body with the hash ${hash}; export the run again`)
        },
      },
      log: {
        erases: true,
        async *read(stream, { from = 0, limit = Number.POSITIVE_INFINITY, types } = {}) {
          const all = streams.get(stream)
          if (all === undefined)
            throw new NoExport(
              `there is no ${stream}, which a stream of it continues; read the export of its source too`,
              0,
            )
          const found = all.slice(from, from + limit)
          yield types === undefined ? found : found.filter(({ header: { type } }) => types.includes(type))
        },
      },
    }
  }

  /**
   * Reads the lines of exports. A fork needs the export of its source too. Rejects with `NoExport` if a text is none. Does
   * not verify the chain: `keepup verify --file` does.
   */
  static async read(...exports: readonly (AsyncIterable<string> | Iterable<string>)[]): Promise<History> {
    const streams = new Map<string, RecordedEvent[]>()
    const bodies = new Map<string, Uint8Array>()
    for (const lines of exports) await readExport(lines, streams, bodies)
    return new History(streams, bodies)
  }

  /** The names of the streams: one for each agent of a run. */
  get streams(): readonly string[] {
    return [...this.#streams.keys()]
  }

  /**
   * The events of a stream in order, first those that it inherits as a fork if the export has them. `to`: the last
   * revision. An event whose body was erased has what its residue keeps. Rejects with BODY_ERASED if it has none.
   */
  async *events(stream: string, { to }: { readonly to?: number } = {}): AsyncGenerator<HistoryEvent> {
    const pages = history(this.#stores, aggregateOf(stream), stream, to === undefined ? {} : { to })
    for await (const page of pages)
      for (const { event, recorded } of page) yield { event: event as AnyEvent, sealed: recorded }
  }

  /** The state of a stream of this kind after the event with a revision; absent: after its last one. Null: no event. */
  async stateAt<K extends OwnKind>(kind: K, stream: string, revision?: number): Promise<StateAt<StateOf<K>> | null> {
    if (kindOf(stream) !== kind) throw new TypeError(`${stream} is no stream of the kind ${kind}`)
    let state: StateOf<K> | null = null
    let last = -1
    for await (const { event } of this.events(stream, revision === undefined ? {} : { to: revision })) {
      state = fold(kind, [event as EventOf<K>], state)
      last = event.revision
    }
    return state === null ? null : { state, revision: last, digest: digest(kind, state) }
  }
}

async function readExport(
  lines: AsyncIterable<string> | Iterable<string>,
  streams: Map<string, RecordedEvent[]>,
  bodies: Map<string, Uint8Array>,
): Promise<void> {
  let count = 0
  for await (const text of lines) {
    if (text.trim() === '') continue
    count++
    if (count === 1) {
      for (const { stream } of readLine(ExportHead, text, count).streams) streams.set(stream, [])
      continue
    }
    // The parts of whole results are no events.
    if (text.startsWith('{"attachment":')) continue
    const { body, ...sealed } = readLine(ExportLine, text, count)
    const { stream, revision } = sealed.header
    const events = streams.get(stream)
    if (events === undefined || events.length !== revision)
      throw new NoExport(`line ${count} is not the next event of a stream in the first line`, count)
    const bytes = body === null ? null : Buffer.from(body, 'base64')
    if (bytes !== null) bodies.set(sealed.header.body.hash, bytes)
    events.push({ ...sealed, body: sealed.header.body.place === 'inline' ? bytes : null } as RecordedEvent)
  }
  if (count === 0) throw new NoExport('it is empty', 0)
}
