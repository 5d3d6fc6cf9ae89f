import type { DamagedEvent, OnDamage } from '../../domain/log/damage.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'

/** What a log gives of a place: the event there, or what is wrong with it. */
export type Given = RecordedEvent | DamagedEvent

export const isDamaged = (given: Given): given is DamagedEvent => !('header' in given)

/** Pages of a log with its damaged events among the others, in log order. `read`: begins to read. */
export async function* withDamage(
  read: (onDamage: OnDamage) => AsyncIterable<readonly RecordedEvent[]>,
): AsyncGenerator<readonly Given[]> {
  const damaged: DamagedEvent[] = []
  for await (const page of read((found) => damaged.push(found))) {
    const found = damaged.splice(0)
    yield found.length === 0 ? page : [...page, ...found].sort((a, b) => a.position - b.position)
  }
  if (damaged.length > 0) yield damaged
}

/** The events up to a position, and what is damaged before the first one beyond it. */
export function upToPosition(page: readonly Given[], position: number): readonly Given[] {
  const beyond = page.findIndex((given) => !isDamaged(given) && given.position > position)
  return beyond < 0 ? page : page.slice(0, beyond)
}
