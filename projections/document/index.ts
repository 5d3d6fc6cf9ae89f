import { document } from '../../domain/document/stream/aggregate.ts'
import { bodyFault, decodeKept } from '../../domain/document/stream/codec.ts'
import { type DocumentEventType, versions } from '../../domain/document/stream/events.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { Residues } from '../../domain/stream/runtime/residues.ts'
import { bodyIn, checked, headerPoison } from '../engine/changes/body.ts'
import { type Change, set } from '../engine/changes/change.ts'
import type { Poison } from '../engine/changes/poison.ts'
import type { StreamKind } from '../engine/changes/stream-kind.ts'
import type { ProjectedDocumentEvent } from './event.ts'
import { documents, envelopes } from './rows.ts'

// All types are at version 1, so no body needs an upcast.
const TYPES = { versions, upcast: (_: DocumentEventType, __: number, body: unknown) => body, bodyFault }

/** Decodes an event, or returns the reason to park its stream. `bytes` null: erased; `residue`: what remains. */
function decode(
  { header, position, erased: isErased }: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown,
): ProjectedDocumentEvent | { readonly poison: Poison } {
  const problem = headerPoison(versions, header)
  if (problem) return { poison: problem }
  const erased = isErased === true
  if (bytes === null && residue === null) return { header, position, erased, event: null }
  const read = bytes === null ? checked(TYPES, header, residue) : bodyIn(TYPES, header, bytes)
  if ('poison' in read) return read
  return { header, position, erased, event: decodeKept(header, { version: header.version, body: read.body }) }
}

const kindWith = (parked: StreamKind['parked']): StreamKind<ProjectedDocumentEvent> => ({
  minReader: () => 1,
  decode,
  changes: (event): Change[] => [...documents(event), ...envelopes(event)],
  referenceOf: () => null,
  withReferred: (event) => event,
  parked,
  upcast: () => null,
  residues: (stores, stream) => new Residues(stores, document, stream),
})

export const documentRows = kindWith((id, revision) => [set('documents', { id }, { incomplete_from: revision })])

/** Converts requests for unknown documents to rows. */
export const gatewayRows = kindWith(() => [])
