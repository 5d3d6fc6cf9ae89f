import type { Column } from '../../../adapters/files/rows/column.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'

/** The version of the columns of exports. A change of columns or their meaning is a new version. */
export const EXPORT_SCHEMA = 1

/** The columns of exported events. Agent and turn are those of the stream; `actor` is who wrote the event. */
export const EVENT_COLUMNS = [
  { name: 'position', type: 'integer', required: true },
  { name: 'event_id', type: 'text', distinct: true, required: true },
  { name: 'stream', type: 'text', required: true },
  { name: 'revision', type: 'int32', required: true },
  { name: 'run_id', type: 'text' },
  { name: 'agent_id', type: 'text' },
  { name: 'turn', type: 'int32', required: true },
  { name: 'type', type: 'text', required: true },
  { name: 'version', type: 'int32', required: true },
  { name: 'time', type: 'time', required: true },
  { name: 'actor_kind', type: 'text', required: true },
  { name: 'actor_id', type: 'text', required: true },
  { name: 'claimed', type: 'boolean', required: true },
  { name: 'tool_call_id', type: 'text' },
  { name: 'causation_id', type: 'text', distinct: true },
  { name: 'correlation_id', type: 'text', required: true },
  { name: 'command_id', type: 'text', distinct: true, required: true },
  { name: 'hash', type: 'text', distinct: true, required: true },
  { name: 'body_hash', type: 'text', distinct: true, required: true },
  { name: 'erased', type: 'boolean', required: true },
  { name: 'payload', type: 'json' },
] as const satisfies readonly Column[]

type ValueOf<C extends Column> = C['type'] extends 'boolean'
  ? boolean
  : C['type'] extends 'int32' | 'integer' | 'real'
    ? number
    : string
type EventColumn = (typeof EVENT_COLUMNS)[number]

/** An event as a row. `payload`: JSON text as readers of events see it; null: erased or altered. */
export type EventRow = {
  readonly [C in EventColumn as C['name']]: C extends { readonly required: true } ? ValueOf<C> : ValueOf<C> | null
}

/** The row of an event. `payload`: of its view. */
export function eventRow({ header: h, position, id, hash, erased }: RecordedEvent, payload: object | null): EventRow {
  return {
    position,
    event_id: id,
    stream: h.stream,
    revision: h.revision,
    run_id: h.runId ?? null,
    agent_id: h.agentId ?? null,
    turn: h.turn,
    type: h.type,
    version: h.version,
    time: h.timestamp,
    actor_kind: h.actor.kind,
    actor_id: h.actor.id,
    claimed: h.actor.claimed === true,
    tool_call_id: h.toolCallId ?? null,
    causation_id: h.causationId ?? null,
    correlation_id: h.correlationId ?? h.commandId,
    command_id: h.commandId,
    hash,
    body_hash: h.body.hash,
    erased: erased === true,
    payload: payload === null ? null : JSON.stringify(payload),
  }
}
