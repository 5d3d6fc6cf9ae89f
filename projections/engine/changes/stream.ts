import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { erasedFact } from '../../../domain/log/erased.ts'
import { runOf } from '../../../domain/log/owner.ts'
import { actorText } from '../text.ts'
import { type Change, put, remove } from './change.ts'

// Row changes of an event of any kind of stream.

/** Changes of `erasures`: erased bodies, with the actor and the reason. */
export function erasures(event: RecordedEvent): Change[] {
  const { stream, revision, actor, timestamp } = event.header
  const changes: Change[] = []
  if (event.erased) changes.push(put('erasures', { stream, revision }, { seen: 1 }))
  const fact = erasedFact(event)
  if (fact === null) return changes
  const columns = { reason: fact.reason, by: actorText(actor), at: timestamp }
  for (const { revision } of fact.bodies) changes.push(put('erasures', { stream, revision }, columns))
  return changes
}

/** The reasons in `due`: the stream owes work, or it is parked and may owe work. */
export type WakeReason = 'owed' | 'parked'

/** Changes of `due`: the wake time that the last header of an append carries, computed by its aggregate. */
export function due({ header }: RecordedEvent): Change[] {
  const { stream, wakeAt } = header
  if (wakeAt === undefined) return []
  if (wakeAt === null) return [remove('due', { stream })]
  return [put('due', { stream }, { run_id: runOf(header), wake_at: wakeAt, reason: 'owed' })]
}
