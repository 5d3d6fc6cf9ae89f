import { upcast } from '../../domain/agent/events/codec.ts'
import { type AgentEvent, bodies, type EventType, versions } from '../../domain/agent/events/events.ts'
import type { DamagedEvent } from '../../domain/log/damage.ts'
import { FORMAT, READER, type RecordedEvent } from '../../domain/log/envelope.ts'
import type { Seen } from '../changes/event.ts'
import { cut, millis } from '../text.ts'

/** Why an event cannot be taken. Its stream is parked. `GAP`: it does not follow the one before it in its stream. */
export interface Poison {
  readonly code:
    | DamagedEvent['code']
    | 'GAP'
    | 'UNREADABLE'
    | 'UNKNOWN_TYPE'
    | 'NEWER_VERSION'
    | 'ENCIPHERED'
    | 'NOT_JSON'
    | 'SHAPE'
    | 'BLOB_MISSING'
    | 'BODY_MISMATCH'
    | 'ROWS_REFUSED'
  readonly message: string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const OF_A_CALL = /^(tool_call|approval)_/

/** An event ready for the tables, or why it is none. `bytes` null: the body was erased, and `left` is what is left of it. */
export function decode(
  event: RecordedEvent,
  bytes: Uint8Array | null,
  left: unknown = null,
): Seen | { readonly poison: Poison } {
  const { header } = event
  const problem = headerProblem(event)
  if (problem) return { poison: problem }
  const type = header.type as EventType
  const frame = {
    type,
    revision: header.revision,
    at: millis(header.timestamp)!,
    turn: header.turn,
    agentId: header.agentId,
    runId: header.runId,
    commandId: header.commandId,
    actor: header.actor,
    bodyHash: header.body.hash,
    ...(header.toolCallId === undefined ? {} : { toolCallId: header.toolCallId }),
    ...(header.driver === undefined ? {} : { driver: header.driver }),
    position: event.position,
    time: header.timestamp,
    digest: header.digest ?? null,
  }
  if (bytes === null) {
    const kept = bodies[type].safeParse(left)
    return { ...frame, erased: true, body: kept.success ? kept.data : null } as Seen
  }
  const json = parse(bytes)
  if (json === undefined) return { poison: { code: 'NOT_JSON', message: `the body of this ${type} is no JSON text` } }
  const body = bodies[type].safeParse(upcasted(type, header.version, json))
  if (!body.success) {
    const issue = body.error.issues[0]!
    const message = `${type} at ${issue.path.join('.') || 'its root'}: ${issue.message}`
    return { poison: { code: 'SHAPE', message: cut(message, 500) } }
  }
  return { ...frame, body: body.data } as AgentEvent & Seen
}

/** The oldest reader that the writer of this event counts on: 1 but for what a stream's first header and a claim
 * say, whatever their version. */
export function minReader(event: RecordedEvent, bytes: Uint8Array | null): number {
  if (event.header.minReader !== undefined) return event.header.minReader
  if (event.header.type !== 'driver_claimed' || bytes === null) return 1
  const json = parse(bytes)
  const said = typeof json === 'object' && json !== null && 'minReader' in json ? json.minReader : 1
  return typeof said === 'number' ? said : 1
}

function headerProblem({ header }: RecordedEvent): Poison | null {
  const { type, version } = header
  if ((header.format as number) > FORMAT) {
    return { code: 'FORMAT_NEWER', message: `format ${header.format}; this program reads up to ${FORMAT}` }
  }
  if (!Object.hasOwn(versions, type)) {
    return { code: 'UNKNOWN_TYPE', message: `no event is called "${cut(type, 80)}" here; a newer program may know it` }
  }
  const current = versions[type as EventType]
  if (version > current) {
    return { code: 'NEWER_VERSION', message: `${type} version ${version}; this program reads up to ${current}` }
  }
  if (header.body.cipher)
    return { code: 'ENCIPHERED', message: `the body is enciphered with key ${header.body.cipher.keyId}` }
  if (millis(header.timestamp) === null) return { code: 'SHAPE', message: 'the timestamp is no time' }
  if (OF_A_CALL.test(type) && header.toolCallId === undefined) {
    return { code: 'SHAPE', message: `this ${type} names no tool call` }
  }
  return null
}

/** An old body in the current shape; one that cannot be brought up stays as it is, and does not have it. */
function upcasted(type: EventType, version: number, body: unknown): unknown {
  try {
    return upcast(type, version, body)
  } catch {
    return undefined
  }
}

export { READER }

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    return undefined
  }
}
