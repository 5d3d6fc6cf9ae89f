import { projected, type TablesKit } from './kit.ts'
import { MemoryLog } from './memory-log.ts'
import { Actor } from './story.ts'

/** The instant before the first event of a told story, ms. */
export const T0 = Date.UTC(2026, 0, 1)

/** The tables of a log with one agent, `a`, and the time of its last event. */
export async function told(kit: TablesKit, write: (actor: Actor) => void, birth = (actor: Actor) => actor.start()) {
  const log = new MemoryLog()
  let at = T0
  const actor = new Actor(log, () => ++at, 'a', 'a')
  birth(actor)
  write(actor)
  const tables = await kit.fresh()
  await projected(log, tables)
  const last = Date.parse(log.events.at(-1)!.header.timestamp)
  return { db: tables.db, last }
}
