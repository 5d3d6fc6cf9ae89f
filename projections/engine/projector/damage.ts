import type { DamagedEvent, OnDamage } from '../../../domain/log/damage.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'

/** An entry of a log: an event, or a damaged one. */
export type LogEntry = RecordedEvent | DamagedEvent

export const isDamaged = (entry: LogEntry): entry is DamagedEvent => !('header' in entry)

export const streamOf = (entry: LogEntry): string => (isDamaged(entry) ? entry.stream : entry.header.stream)

/** The pages of a log, with damaged events in log order among the others. `read` starts the reading. */
export async function* withDamage(
  read: (onDamage: OnDamage) => AsyncIterable<readonly RecordedEvent[]>,
): AsyncGenerator<readonly LogEntry[]> {
  const damaged: DamagedEvent[] = []
  for await (const page of read((found) => damaged.push(found))) {
    const found = damaged.splice(0)
    yield found.length === 0 ? page : [...page, ...found].sort((a, b) => a.position - b.position)
  }
  if (damaged.length > 0) yield damaged
}

/** The entries of a page before the first event after a position. */
export function upToPosition(page: readonly LogEntry[], position: number): readonly LogEntry[] {
  const beyond = page.findIndex((entry) => !isDamaged(entry) && entry.position > position)
  return beyond < 0 ? page : page.slice(0, beyond)
}
