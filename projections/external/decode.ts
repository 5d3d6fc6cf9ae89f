import { bodyFault } from '../../domain/external/codec.ts'
import { type ExternalEventType, externalVersions } from '../../domain/external/events.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { bodyIn, frameOf, headerPoison } from '../engine/changes/body.ts'
import type { Poison } from '../engine/changes/poison.ts'
import type { ProjectedExternal } from './event.ts'

// All types are at version 1, so no body needs an upcast.
const TYPES = {
  versions: externalVersions,
  upcast: (_: ExternalEventType, __: number, body: unknown) => body,
  bodyFault,
}

/** Decodes an event, or returns the reason to park its stream. `bytes` null: erased; `residue`: what remains. */
export function decodeExternalEvent(
  event: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown = null,
): ProjectedExternal | { readonly poison: Poison } {
  const { header } = event
  const problem = headerPoison(externalVersions, header)
  if (problem) return { poison: problem }
  const type = header.type as ExternalEventType
  const { turn, toolCallId } = header
  const frame = { ...frameOf(event), type, turn, ...(toolCallId === undefined ? {} : { toolCallId }) }
  if (bytes === null) {
    const body = bodyFault(type, residue) === null ? residue : null
    return { ...frame, erased: true, body } as ProjectedExternal
  }
  const read = bodyIn(TYPES, header, bytes)
  return 'poison' in read ? read : ({ ...frame, body: read.body } as ProjectedExternal)
}
