import { projected, type TablesKit } from './kit.ts'
import { MemoryLog } from './memory-log.ts'
import { Actor } from './story.ts'

/** The time before the first event, in ms. */
export const T0 = Date.UTC(2026, 0, 1)

/** The tables of a log with one agent, `a`. */
export async function oneAgent(kit: TablesKit, write: (actor: Actor) => void, start = (actor: Actor) => actor.start()) {
  const log = new MemoryLog()
  let at = T0
  const actor = new Actor(log, () => ++at, 'a', 'a')
  start(actor)
  write(actor)
  const tables = await kit.fresh()
  const { projector } = await projected(log, tables)
  return { db: tables.db, dump: tables.dump, log, actor, projector }
}
