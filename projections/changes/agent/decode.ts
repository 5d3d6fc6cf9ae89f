import { upcast } from '../../../domain/agent/events/codec.ts'
import { type AgentEvent, bodies, type EventType, versions } from '../../../domain/agent/events/events.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentOf, runOf } from '../../../domain/log/owner.ts'
import { cut, millis } from '../../text.ts'
import type { Poison } from '../poison.ts'
import type { ProjectedEvent } from './event.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
const OF_A_CALL = /^(tool_call|approval)_/

/** An event as the row rules take it, or the reason why it must park its stream. `bytes` null: erased, except for `residue`. */
export function decode(
  event: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown = null,
): ProjectedEvent | { readonly poison: Poison } {
  const { header } = event
  const problem = headerProblem(event)
  if (problem) return { poison: problem }
  const type = header.type as EventType
  const frame = {
    type,
    revision: header.revision,
    at: millis(header.timestamp)!,
    turn: header.turn,
    agentId: agentOf(header),
    runId: runOf(header),
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
    const parsed = bodies[type].safeParse(residue)
    return { ...frame, erased: true, body: parsed.success ? parsed.data : null } as ProjectedEvent
  }
  const json = parse(bytes)
  if (json === undefined) return { poison: { code: 'NOT_JSON', message: `the body of this ${type} is not JSON` } }
  const body = bodies[type].safeParse(upcasted(type, header.version, json))
  if (!body.success) {
    const issue = body.error.issues[0]!
    const message = `${type} at ${issue.path.join('.') || 'its root'}: ${issue.message}`
    return { poison: { code: 'SHAPE', message: cut(message, 500) } }
  }
  return { ...frame, body: body.data } as AgentEvent & ProjectedEvent
}

/** The oldest reader that the writer of an agent's event accepts: 1 unless it is a claim of any version that asks for more. */
export function minReader(event: RecordedEvent, bytes: Uint8Array | null): number {
  if (event.header.type !== 'driver_claimed' || bytes === null) return 1
  const json = parse(bytes)
  const asked = typeof json === 'object' && json !== null && 'minReader' in json ? json.minReader : 1
  return typeof asked === 'number' ? asked : 1
}

function headerProblem({ header }: RecordedEvent): Poison | null {
  const { type, version } = header
  if (!Object.hasOwn(versions, type)) {
    return {
      code: 'UNKNOWN_TYPE',
      message: `no event type is called "${cut(type, 80)}" here; a newer program may know it`,
    }
  }
  const current = versions[type as EventType]
  if (version > current) {
    return { code: 'NEWER_VERSION', message: `${type} version ${version}; this program reads up to ${current}` }
  }
  if (header.body.cipher)
    return { code: 'ENCIPHERED', message: `the body is enciphered with key ${header.body.cipher.keyId}` }
  if (OF_A_CALL.test(type) && header.toolCallId === undefined) {
    return { code: 'SHAPE', message: `this ${type} has no toolCallId` }
  }
  return null
}

/** An old body in the current shape; undefined where it cannot be brought up. */
function upcasted(type: EventType, version: number, body: unknown): unknown {
  try {
    return upcast(type, version, body)
  } catch {
    return undefined
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    return undefined
  }
}
