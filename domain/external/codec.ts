import { firstIssue } from '../agent/issues.ts'
import { FORMAT, type Header } from '../log/envelope.ts'
import { LogError } from '../log/errors.ts'
import { bodies, type ExternalEvent, type ExternalEventType, versions } from './events.ts'

/** What this program writes and understands of external runs; a stream that asks for more is left alone. */
export const READER = 1

const utf8 = new TextDecoder('utf-8', { fatal: true })

const isType = (type: string): type is ExternalEventType => Object.hasOwn(bodies, type)

/** What is wrong with a body of the current version, or null. */
export function bodyFault(type: ExternalEventType, body: unknown): string | null {
  const parsed = bodies[type].safeParse(body)
  return parsed.success ? null : firstIssue(parsed.error, 'body')
}

/** A stored event as the fold sees it. Throws `UNKNOWN_EVENT`, `LOG_NEWER` or `LOG_CORRUPT`. All types are at version 1. */
export function decode(header: Header, bytes: Uint8Array): ExternalEvent {
  const at = `${header.stream}@${header.revision}`
  const { type } = header
  if (header.format > FORMAT)
    throw new LogError('LOG_NEWER', `${at} is in format ${header.format}, this keepup reads ${FORMAT}; use a newer one`)
  if (header.body.cipher !== undefined)
    throw new LogError('UNKNOWN_EVENT', `the body of ${at} is enciphered, which this keepup cannot read`)
  if (!isType(type)) throw new LogError('UNKNOWN_EVENT', `"${type}" at ${at} is not known; a newer keepup wrote it`)
  if (header.version > versions[type])
    throw new LogError('UNKNOWN_EVENT', `${type} version ${header.version} at ${at} is newer than ${versions[type]}`)
  const body = parse(at, bytes)
  const asks = type === 'external_started' || type === 'driver_claimed' ? (body as { minReader: number }).minReader : 0
  if (asks > READER) throw new LogError('LOG_NEWER', `${header.agentId} is driven by a newer keepup; use that one`)
  return {
    type,
    body,
    revision: header.revision,
    at: Date.parse(header.timestamp),
    agentId: header.agentId,
    commandId: header.commandId,
    actor: header.actor,
    bodyHash: header.body.hash,
  } as ExternalEvent
}

function parse(at: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    throw new LogError('LOG_CORRUPT', `the body of ${at} is no JSON`, { cause })
  }
}
