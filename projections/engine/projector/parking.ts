import { idOf } from '../../../domain/log/owner.ts'
import { type Change, changesIn } from '../changes/change.ts'
import type { Poison } from '../changes/poison.ts'
import type { StreamKind } from '../changes/stream-kind.ts'
import type { streamTables } from '../schema/stream-tables.ts'
import { cut, millis } from '../text.ts'
import { isDamaged, type LogEntry, streamOf } from './damage.ts'

const { put } = changesIn<typeof streamTables>()

/** The changes that park a stream. `expected`: the revision that had to come next; `runId`: the run of the stream. */
export function parking(
  entry: LogEntry,
  { code, message }: Poison,
  expected: number,
  runId: string | null,
  kind: StreamKind | undefined,
): Change[] {
  const stream = streamOf(entry)
  const event = isDamaged(entry)
    ? { revision: entry.revision ?? expected, type: entry.type, version: 0, at: entry.at }
    : pick(entry.header)
  const id = idOf(stream)
  const place = { run_id: runId ?? (kind ? id : stream), position: entry.position, event_id: entry.id }
  return [
    put('parked', { stream }, { ...place, ...event, code, message: cut(message, 1000) }),
    put('due', { stream }, { run_id: place.run_id, wake_at: millis(event.at) ?? 0, at_once: 1, reason: 'parked' }),
    ...(kind?.parked(id, event.revision) ?? []),
  ]
}

const pick = (header: { revision: number; type: string; version: number; timestamp: string }) => ({
  revision: header.revision,
  type: header.type,
  version: header.version,
  at: header.timestamp,
})
