import { idOf } from '../../../log/owner.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import { inSteps, yielder } from '../../../stream/runtime/yield-to-event-loop.ts'
import type { AgentEvent } from '../../events/events.ts'
import { below, type CausalEntry, causalHistoryOf, takenFrom } from '../../rules/causal-history.ts'
import { type Comparison, compareHistories } from '../../rules/compare-histories.ts'
import { history } from './history.ts'

/**
 * Compares the requests, answers and decisions of two runs, including all descendants of their roots. A fork includes
 * its inherited history. Rejects with LogError if a stream cannot be read.
 */
export async function compareRunHistories(stores: Stores, a: string, b: string): Promise<Comparison> {
  return inSteps(compareHistories(await historyOfRun(stores, a), await historyOfRun(stores, b)), yielder())
}

async function historyOfRun(stores: Stores, agentId: string): Promise<readonly CausalEntry[]> {
  const events: AgentEvent[] = []
  for await (const page of history(stores, agentId)) for (const { event } of page) events.push(event)
  const { entries, children, taken } = await inSteps(causalHistoryOf(events), yielder())
  const all = [...entries]
  for (const child of children)
    for (const entry of await historyOfRun(stores, child.childId)) all.push(below(child, entry))
  // A fork copies the outcome of a delegation and starts no child. Take the child's history from the record.
  const records = new Map<string, readonly CausalEntry[]>()
  for (const call of taken) {
    const { stream } = call.place
    if (!records.has(stream)) records.set(stream, await historyOfRun(stores, idOf(stream)))
    all.push(...takenFrom(records.get(stream)!, call))
  }
  return all
}
