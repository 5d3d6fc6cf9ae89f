import { document } from '../../../domain/document/stream/aggregate.ts'
import { bodyFault, decodeKept } from '../../../domain/document/stream/codec.ts'
import { isDocumentEvent, versions } from '../../../domain/document/stream/events.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { Residues } from '../../../domain/runtime/stream/residues.ts'
import { cut } from '../../text.ts'
import { type Change, set } from '../change.ts'
import type { StreamKind } from '../kinds.ts'
import type { Poison } from '../poison.ts'
import type { ProjectedDocumentEvent } from './event.ts'
import { documents, envelopes } from './rows.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** An event as the row rules take it, or the reason why it must park its stream. `bytes` null: erased. */
function decode(
  { header, position, erased: isErased }: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown,
): ProjectedDocumentEvent | { readonly poison: Poison } {
  const poison = (code: Poison['code'], message: string) => ({ poison: { code, message: cut(message, 500) } })
  const { type, version } = header
  const erased = isErased === true
  if (!isDocumentEvent(type)) return poison('UNKNOWN_TYPE', `no event type of a document is called "${type}" here`)
  if (version > versions[type])
    return poison('NEWER_VERSION', `${type} version ${version}; this program reads up to ${versions[type]}`)
  if (header.body.cipher) return poison('ENCIPHERED', `the body is enciphered with key ${header.body.cipher.keyId}`)
  const body = bytes === null ? residue : parsed(bytes)
  if (body === undefined) return poison('NOT_JSON', `the body of this ${type} is not JSON`)
  if (body === null) return { header, position, erased, event: null }
  const event = decodeKept(header, { body })
  const fault = bodyFault(event)
  return fault === null ? { header, position, erased, event } : poison('SHAPE', `${type}: ${fault}`)
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    return undefined
  }
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

/** How a document's stream becomes rows. */
export const documentRows = kindWith((id, revision) => [set('documents', { id }, { incomplete_from: revision })])

/** How requests for unknown documents become rows. */
export const gatewayRows = kindWith(() => [])
