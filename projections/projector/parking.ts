import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { type Change, put, set } from '../changes/change.ts'
import { millis } from '../text.ts'
import type { Poison } from './decode.ts'

/** The changes that park an event's stream at it. */
export function parking({ header, id, position }: RecordedEvent, poison: Poison): Change[] {
  const { agentId, runId, revision, stream, type, version, timestamp } = header
  const { code, message } = poison
  const where = { stream, run_id: runId, revision, position, event_id: id, type, version, code, message, at: timestamp }
  return [
    put('parked', { agent_id: agentId }, where),
    set('agents', { id: agentId }, { incomplete_from: revision }),
    put(
      'due',
      { agent_id: agentId, cause: 'parked' },
      { run_id: runId, wake_at: millis(timestamp) ?? 0, reason: 'parked' },
    ),
  ]
}
