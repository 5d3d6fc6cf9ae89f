import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { context } from '../../domain/store/aggregate.ts'
import { bodyFault, decodeKept } from '../../domain/store/codec.ts'
import { type ContextEventType, versions } from '../../domain/store/events.ts'
import { Residues } from '../../domain/stream/runtime/residues.ts'
import { bodyIn, checked, headerPoison } from '../engine/changes/body.ts'
import { set } from '../engine/changes/change.ts'
import type { Poison } from '../engine/changes/poison.ts'
import type { StreamKind } from '../engine/changes/stream-kind.ts'
import type { ProjectedContextEvent } from './event.ts'
import { contextStores, storedVariables } from './rows.ts'

// All types are at version 1, so no body needs an upcast.
const TYPES = { versions, upcast: (_: ContextEventType, __: number, body: unknown) => body, bodyFault }

function decode(
  { header, position, erased: isErased }: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown,
): ProjectedContextEvent | { readonly poison: Poison } {
  const problem = headerPoison(versions, header)
  if (problem) return { poison: problem }
  const erased = isErased === true
  if (bytes === null && residue === null) return { header, position, erased, event: null }
  const read = bytes === null ? checked(TYPES, header, residue) : bodyIn(TYPES, header, bytes)
  if ('poison' in read) return read
  return { header, position, erased, event: decodeKept(header, { version: header.version, body: read.body }) }
}

export const contextRows: StreamKind<ProjectedContextEvent> = {
  minReader: () => 1,
  decode,
  changes: (event) => [...contextStores(event), ...storedVariables(event)],
  referenceOf: () => null,
  withReferred: (event) => event,
  parked: (store, revision) => [set('context_stores', { store }, { incomplete_from: revision })],
  upcast: () => null,
  residues: (stores, stream) => new Residues(stores, context, stream),
}
