import type { AgentEvent } from '../../../agent/events/events.ts'
import { type Comparison, compareDeeds } from '../../../agent/rules/compare-deeds.ts'
import { below, type Deed, deedsOf } from '../../../agent/rules/deeds.ts'
import type { Stores } from '../../stream/ports.ts'
import { history } from './history.ts'

/**
 * Two runs beside each other, with all agents below their roots: what was asked, answered and decided. A fork is compared with
 * all that it has inherited. Rejects with LogErrors where a stream cannot be read.
 */
export async function compareRuns(stores: Stores, a: string, b: string): Promise<Comparison> {
  return compareDeeds(await deedsOfRun(stores, a), await deedsOfRun(stores, b))
}

async function deedsOfRun(stores: Stores, agentId: string): Promise<readonly Deed[]> {
  const events: AgentEvent[] = []
  for await (const page of history(stores, agentId)) for (const { event } of page) events.push(event)
  const { deeds, children } = deedsOf(events)
  const all = [...deeds]
  for (const child of children) for (const deed of await deedsOfRun(stores, child.childId)) all.push(below(child, deed))
  return all
}
