import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { memory } from '../../domain/memory/aggregate.ts'
import { bodyFault, decodeKept } from '../../domain/memory/codec.ts'
import { type MemoryEventType, versions } from '../../domain/memory/events.ts'
import { Residues } from '../../domain/stream/runtime/residues.ts'
import { bodyIn, checked, headerPoison } from '../engine/changes/body.ts'
import { set } from '../engine/changes/change.ts'
import type { Poison } from '../engine/changes/poison.ts'
import type { StreamKind } from '../engine/changes/stream-kind.ts'
import type { ProjectedMemoryEvent } from './event.ts'
import { memories } from './rows.ts'

// All types are at version 1, so no body needs an upcast.
const TYPES = { versions, upcast: (_: MemoryEventType, __: number, body: unknown) => body, bodyFault }

function decode(
  { header, position }: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown,
): ProjectedMemoryEvent | { readonly poison: Poison } {
  const problem = headerPoison(versions, header)
  if (problem) return { poison: problem }
  if (bytes === null && residue === null) return { header, position, event: null }
  const read = bytes === null ? checked(TYPES, header, residue) : bodyIn(TYPES, header, bytes)
  if ('poison' in read) return read
  return { header, position, event: decodeKept(header, { version: header.version, body: read.body }) }
}

export const memoryRows: StreamKind<ProjectedMemoryEvent> = {
  minReader: () => 1,
  decode,
  changes: memories,
  referenceOf: () => null,
  withReferred: (event) => event,
  parked: (id, revision) => [set('memories', { id }, { incomplete_from: revision })],
  upcast: () => null,
  residues: (stores, stream) => new Residues(stores, memory, stream),
}
