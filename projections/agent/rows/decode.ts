import { bodyFault, upcast } from '../../../domain/agent/events/codec.ts'
import { type AgentEvent, agentVersions, type EventType } from '../../../domain/agent/events/events.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { bodyIn, frameOf, headerPoison } from '../../engine/changes/body.ts'
import type { Poison } from '../../engine/changes/poison.ts'
import type { ProjectedEvent } from './event.ts'

const OF_A_CALL = /^(tool_call|approval)_/
const TYPES = { versions: agentVersions, upcast, bodyFault }

/** Decodes an event, or returns the reason to park its stream. `bytes` null: erased; `residue`: what remains. */
export function decodeAgentEvent(
  event: RecordedEvent,
  bytes: Uint8Array | null,
  residue: unknown = null,
): ProjectedEvent | { readonly poison: Poison } {
  const { header } = event
  const problem = headerPoison(agentVersions, header) ?? withoutCall(event)
  if (problem) return { poison: problem }
  const type = header.type as EventType
  const frame = {
    ...frameOf(event),
    type,
    turn: header.turn,
    ...(header.toolCallId === undefined ? {} : { toolCallId: header.toolCallId }),
    ...(header.driver === undefined ? {} : { driver: header.driver }),
    digest: header.digest ?? null,
  }
  if (bytes === null) {
    const body = bodyFault(type, residue) === null ? residue : null
    return { ...frame, erased: true, body } as ProjectedEvent
  }
  const read = bodyIn(TYPES, header, bytes)
  return 'poison' in read ? read : ({ ...frame, body: read.body } as AgentEvent & ProjectedEvent)
}

function withoutCall({ header: { type, toolCallId } }: RecordedEvent): Poison | null {
  if (!OF_A_CALL.test(type) || toolCallId !== undefined) return null
  return { code: 'SHAPE', message: `this ${type} has no toolCallId` }
}
