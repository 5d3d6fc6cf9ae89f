import type { TableSpec } from './columns.ts'

/**
 * The content of the log, for databases that cannot read it: one row per event of every stream, including parked ones.
 * `payload`: the sealed body as JSON text; null when it was erased, is encrypted, or is unreadable (its stream is then
 * parked). `current`: the body in its current shape, when it differs from the payload: upcast from an older version, or
 * the residue of an erasure.
 */
export const eventRows = {
  columns: {
    stream: 'text!',
    revision: 'integer!',
    position: 'integer!',
    event_id: 'text!',
    run_id: 'text!',
    agent_id: 'text!',
    turn: 'integer!',
    type: 'text!',
    timestamp: 'text!',
    tool_call_id: 'text',
    actor_kind: 'text!',
    actor_id: 'text!',
    payload: 'text',
    current: 'text',
  },
  key: ['stream', 'revision'],
  owner: 'agent_id',
  indexes: [['position'], ['run_id', 'position'], ['agent_id', 'position']],
} as const satisfies TableSpec
