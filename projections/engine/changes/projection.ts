import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import type { Aggregate, StreamEvent } from '../../../domain/stream/aggregate.ts'
import { Residues } from '../../../domain/stream/runtime/residues.ts'
import type { TableSpecs } from '../schema/columns.ts'
import { attempt, bodyIn, checked, headerPoison, minReaderIn } from './body.ts'
import { type Change, type ChangesIn, changesIn } from './change.ts'
import type { Poison } from './poison.ts'
import type { Indexes, StreamKind } from './stream-kind.ts'

/** The part of an aggregate that its row rules need. */
type Projectable<Event extends StreamEvent> = Pick<
  Aggregate<unknown, Event, unknown>,
  'kind' | 'versions' | 'claim' | 'fault' | 'decode' | 'decodeKept' | 'inherited'
>

/** An event for the row rules of most kinds. `event` null: the body was erased without a residue. */
export interface Projected<Event extends StreamEvent> {
  readonly header: Header
  readonly position: number
  /** The body was erased: `event` has its residue. */
  readonly erased: boolean
  readonly event: Event | null
}

/** The row rules of a kind with its own form of events. */
export function rowRules<E, Event extends StreamEvent, T extends TableSpecs>(
  aggregate: Projectable<Event>,
  tables: T,
  rules: Pick<StreamKind<E, T>, 'decode' | 'changes' | 'parked'> &
    Partial<Pick<StreamKind<E, T>, 'indexes' | 'referenceOf' | 'withReferred'>>,
): StreamKind<E, T> {
  const { kind, versions, claim } = aggregate
  return {
    ...{ kind, tables, versions },
    minReader: ({ header }, body) => (header.type === claim && body !== null ? minReaderIn(body) : 1),
    referenceOf: () => null,
    withReferred: (event) => event,
    upcast(header, body) {
      const { type, version } = header
      if (!Object.hasOwn(versions, type) || version >= versions[type]!) return null
      return attempt(() => aggregate.decodeKept(header, { version, body: JSON.parse(body) }).body) ?? null
    },
    residues: (stores, stream) => new Residues(stores, aggregate, stream),
    ...rules,
  }
}

/**
 * The row rules of a kind, from its aggregate, its tables and the row changes of an event. A parked stream marks its
 * rows in the tables with a column `incomplete_from` that have one row per stream.
 */
export const projectionOf = <Event extends StreamEvent, T extends TableSpecs>(
  aggregate: Projectable<Event>,
  tables: T,
  changes: (event: Projected<Event>, rows: ChangesIn<T>) => Change[],
  indexes?: Indexes,
): StreamKind<Projected<Event>, T> =>
  rowRules(aggregate, tables, {
    indexes,
    decode: (event, bytes, residue) => decoded(aggregate, event, bytes, residue),
    changes: (event) => changes(event, changesIn<T>()),
    parked: (id, revision) =>
      Object.entries(tables)
        .filter(([_, { columns, key, owner }]) => 'incomplete_from' in columns && key.join() === owner)
        .map(([table, { owner }]) => ({
          ...{ kind: 'set', table, key: { [owner]: id }, columns: { incomplete_from: revision } },
        })),
  })

function decoded<Event extends StreamEvent>(
  aggregate: Projectable<Event>,
  { header, position, erased: isErased }: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown,
): Projected<Event> | { readonly poison: Poison } {
  const { versions } = aggregate
  const problem = headerPoison(versions, header)
  if (problem) return { poison: problem }
  const erased = isErased === true
  const version = versions[header.type]!
  const inCurrent = (body: unknown) => aggregate.decodeKept(header, { version, body })
  const types = {
    versions,
    upcast: (_: string, version: number, body: unknown) => aggregate.decodeKept(header, { version, body }).body,
    bodyFault: (_: string, body: unknown) => aggregate.fault(inCurrent(body)),
  }
  if (bytes === null && (residue === null || residue === undefined)) return { header, position, erased, event: null }
  const read = bytes === null ? checked(types, header, residue) : bodyIn(types, header, bytes)
  return 'poison' in read ? read : { header, position, erased, event: inCurrent(read.body) }
}
