import { FORMAT, type Header, READER } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { firstIssue } from '../issues.ts'
import { type AgentEvent, bodies, type EventType, versions } from './events.ts'
import { type Upcaster, upcasters } from './upcasters.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export const isEventType = (type: string): type is EventType => Object.hasOwn(bodies, type)

/**
 * A stored event as the fold sees it, brought up to the current version. Throws `UNKNOWN_EVENT` for a type or version
 * that this program does not know, and `LOG_CORRUPT` where the body is no JSON.
 */
export function decode(header: Header, body: Uint8Array): AgentEvent {
  checkReadable(header)
  const event = eventOf(header, header.version, parse(header, body))
  checkReader(event)
  return event
}

/** An event whose body was erased, from what was kept of it. Throws as {@link decode} does. */
export function decodeKept(header: Header, kept: { readonly version: number; readonly body: unknown }): AgentEvent {
  return eventOf(header, kept.version, kept.body)
}

function eventOf(header: Header, version: number, body: unknown): AgentEvent {
  const { type } = header
  if (!isEventType(type)) throw unknownType(header)
  return {
    type,
    body: upcast(type, version, body),
    revision: header.revision,
    at: Date.parse(header.timestamp),
    turn: header.turn,
    agentId: header.agentId,
    runId: header.runId,
    commandId: header.commandId,
    actor: header.actor,
    bodyHash: header.body.hash,
    size: header.body.size,
    ...(header.toolCallId === undefined ? {} : { toolCallId: header.toolCallId }),
    ...(header.causationId === undefined ? {} : { causationId: header.causationId }),
    ...(header.correlationId === undefined ? {} : { correlationId: header.correlationId }),
    ...(header.driver === undefined ? {} : { driver: header.driver }),
  } as AgentEvent
}

/** Throws `LOG_NEWER` or `UNKNOWN_EVENT` where the header says that this program cannot read the body. */
export function checkKnown(header: Header): void {
  checkReadable(header)
  if (!isEventType(header.type)) throw unknownType(header)
  if (header.version > versions[header.type]) throw newerVersion(header.type, header.version)
}

const unknownType = ({ type, stream, revision }: Header) =>
  new LogError('UNKNOWN_EVENT', `"${type}" at ${stream}@${revision} is not known; a newer keepup wrote it`)

const newerVersion = (type: EventType, version: number) =>
  new LogError('UNKNOWN_EVENT', `${type} version ${version} is newer than this program's ${versions[type]}`)

function checkReadable(header: Header): void {
  const at = `${header.stream}@${header.revision}`
  if (header.format > FORMAT) {
    throw new LogError('LOG_NEWER', `${at} is in format ${header.format}, this keepup reads ${FORMAT}; use a newer one`)
  }
  if (header.minReader !== undefined && header.minReader > READER) {
    throw new LogError('LOG_NEWER', `${header.stream} was begun by a newer keepup, which it needs; use that one`)
  }
  if (header.body.cipher !== undefined) {
    throw new LogError('UNKNOWN_EVENT', `the body of ${at} is enciphered, which this keepup cannot read`)
  }
}

/** A claim says what its writer's events ask of a reader. */
export function checkReader(event: AgentEvent): void {
  if (event.type !== 'driver_claimed' || event.body.minReader <= READER) return
  throw new LogError('LOG_NEWER', `${event.agentId} is driven by a newer keepup (${event.body.build}); use that one`)
}

function parse(header: Header, body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch (cause) {
    throw new LogError('LOG_CORRUPT', `the body of ${header.stream}@${header.revision} is no JSON`, { cause })
  }
}

/** What is wrong with a body of the current version, or null: what a writer may not seal, and a proof does not pass. */
export function bodyFault(type: EventType, body: unknown): string | null {
  const parsed = bodies[type].safeParse(body)
  return parsed.success ? null : firstIssue(parsed.error, 'body')
}

/** Brings a body of an old version up, one version at a time. */
export function upcast(type: EventType, version: number, body: unknown): unknown {
  const current = versions[type]
  if (version > current) throw newerVersion(type, version)
  let value = body
  for (let v = version; v < current; v++) {
    const up: Upcaster | undefined = upcasters[type]?.[v]
    if (up === undefined)
      throw new LogError('UNKNOWN_EVENT', `no upcaster brings ${type} from version ${v} to ${v + 1}`)
    value = up(value)
  }
  return value
}
