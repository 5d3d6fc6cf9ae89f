import { bodyFault } from '../../../domain/external/codec.ts'
import { type ExternalEventType, versions } from '../../../domain/external/events.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentOf, runOf } from '../../../domain/log/owner.ts'
import { cut, millis } from '../../text.ts'
import type { Poison } from '../poison.ts'
import type { ProjectedExternal } from './event.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

const isType = (type: string): type is ExternalEventType => Object.hasOwn(versions, type)

/** An event as the row rules take it, or the reason why it must park its stream. `bytes` null: erased, except for `residue`. */
export function decode(
  event: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown = null,
): ProjectedExternal | { readonly poison: Poison } {
  const { header } = event
  const { type } = header
  if (!isType(type))
    return {
      poison: {
        code: 'UNKNOWN_TYPE',
        message: `no event type is called "${cut(type, 80)}" here; a newer program may know it`,
      },
    }
  if (header.version > versions[type])
    return {
      poison: {
        code: 'NEWER_VERSION',
        message: `${type} version ${header.version}; this program reads up to ${versions[type]}`,
      },
    }
  if (header.body.cipher)
    return {
      poison: { code: 'ENCIPHERED', message: `the body is enciphered with key ${header.body.cipher.keyId}` },
    }
  const frame = {
    type,
    revision: header.revision,
    at: millis(header.timestamp)!,
    agentId: agentOf(header),
    runId: runOf(header),
    commandId: header.commandId,
    actor: header.actor,
    bodyHash: header.body.hash,
    position: event.position,
    time: header.timestamp,
  }
  if (bytes === null) {
    const kept = bodyFault(type, residue) === null ? residue : null
    return { ...frame, erased: true, body: kept } as ProjectedExternal
  }
  const body = parse(bytes)
  if (body === undefined) return { poison: { code: 'NOT_JSON', message: `the body of this ${type} is not JSON` } }
  const fault = bodyFault(type, body)
  if (fault !== null) return { poison: { code: 'SHAPE', message: cut(`${type}: ${fault}`, 500) } }
  return { ...frame, body } as ProjectedExternal
}

/** The oldest reader that the writer of an event accepts: 1 unless it is a claim that asks for more. */
export function minReader({ header }: RecordedEvent, bytes: Uint8Array | null): number {
  if (header.type !== 'driver_claimed' || bytes === null) return 1
  const body = parse(bytes)
  const asked = typeof body === 'object' && body !== null && 'minReader' in body ? body.minReader : 1
  return typeof asked === 'number' ? asked : 1
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    return undefined
  }
}
