import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { erasedFact } from '../../../domain/log/erased.ts'
import { runOf } from '../../../domain/log/owner.ts'
import type { streamTables } from '../schema/stream-tables.ts'
import { actorText } from '../text.ts'
import { type Change, changesIn } from './change.ts'

const { put, remove } = changesIn<typeof streamTables>()

/** Changes of `erasures`: erased bodies, with actor, reason and its code. */
export function erasures(event: RecordedEvent): Change[] {
  const { stream, revision, actor, timestamp } = event.header
  const changes: Change[] = []
  if (event.erased) changes.push(put('erasures', { stream, revision }, { seen: 1 }))
  const fact = erasedFact(event)
  if (fact === null) return changes
  const columns = { code: fact.code, reason: fact.reason, by: actorText(actor), at: timestamp }
  for (const { revision } of fact.bodies) changes.push(put('erasures', { stream, revision }, columns))
  return changes
}

/** The reasons in `due`: the stream has open work, or it is parked and may have open work. */
export type WakeReason = 'owed' | 'parked'

/** Changes of `due`: the wake time in the last header of an append, computed by the stream's aggregate. */
export function due({ header }: RecordedEvent): Change[] {
  const { stream, wakeAt, timestamp } = header
  if (wakeAt === undefined) return []
  if (wakeAt === null) return [remove('due', { stream })]
  const at_once = wakeAt <= Date.parse(timestamp) ? 1 : 0
  return [put('due', { stream }, { run_id: runOf(header), wake_at: wakeAt, at_once, reason: 'owed' })]
}
