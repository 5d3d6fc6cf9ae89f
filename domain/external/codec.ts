import { firstIssue } from '../agent/issues.ts'
import { FORMAT, type Header, READER } from '../log/envelope.ts'
import { LogError } from '../log/errors.ts'
import { agentOf, runOf } from '../log/owner.ts'
import { bodies, type ExternalEvent, type ExternalEventType, versions } from './events.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

const isType = (type: string): type is ExternalEventType => Object.hasOwn(bodies, type)

/** What is wrong with a body of the current version, or null. */
export function bodyFault(type: ExternalEventType, body: unknown): string | null {
  const parsed = bodies[type].safeParse(body)
  return parsed.success ? null : firstIssue(parsed.error, 'body')
}

/** A stored event as the fold sees it. Throws `UNKNOWN_EVENT`, `LOG_NEWER` or `LOG_CORRUPT`. All types are at version 1. */
export function decode(header: Header, bytes: Uint8Array): ExternalEvent {
  checkKnown(header)
  const event = eventOf(header, parse(header, bytes))
  if (event.type !== 'driver_claimed' || event.body.minReader <= READER) return event
  throw new LogError('LOG_NEWER', `${event.agentId} is driven by a newer keepup (${event.body.build}); use that one`)
}

/** An event whose body was erased, from what was kept of it. Throws as {@link decode} does. */
export function decodeKept(header: Header, kept: { readonly version: number; readonly body: unknown }): ExternalEvent {
  checkKnown({ ...header, version: kept.version })
  return eventOf(header, kept.body)
}

/** Throws as {@link decode} does where the header alone says that this program cannot read the event. */
export function checkKnown(header: Header): void {
  const { type } = header
  const at = `${header.stream}@${header.revision}`
  if (header.format > FORMAT)
    throw new LogError('LOG_NEWER', `${at} is in format ${header.format}, this keepup reads ${FORMAT}; use a newer one`)
  if ((header.minReader ?? 1) > READER)
    throw new LogError('LOG_NEWER', `${header.stream} was begun by a newer keepup, which it needs; use that one`)
  if (header.body.cipher !== undefined)
    throw new LogError('UNKNOWN_EVENT', `the body of ${at} is enciphered, which this keepup cannot read`)
  if (!isType(type)) throw new LogError('UNKNOWN_EVENT', `"${type}" at ${at} is not known; a newer keepup wrote it`)
  if (header.version > versions[type])
    throw new LogError('UNKNOWN_EVENT', `${type} version ${header.version} at ${at} is newer than ${versions[type]}`)
}

const eventOf = (header: Header, body: unknown): ExternalEvent =>
  ({
    type: header.type,
    body,
    revision: header.revision,
    at: Date.parse(header.timestamp),
    turn: header.turn,
    agentId: agentOf(header),
    runId: runOf(header),
    commandId: header.commandId,
    actor: header.actor,
    bodyHash: header.body.hash,
    ...(header.toolCallId === undefined ? {} : { toolCallId: header.toolCallId }),
    ...(header.correlationId === undefined ? {} : { correlationId: header.correlationId }),
    ...(header.causationId === undefined ? {} : { causationId: header.causationId }),
    ...(header.driver === undefined ? {} : { driver: header.driver }),
  }) as ExternalEvent

function parse({ stream, revision }: Header, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    throw new LogError('LOG_CORRUPT', `the body of ${stream}@${revision} is no JSON`, { cause })
  }
}
