import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { route, routingFacts } from '../../../domain/agent/routing/routing.ts'
import { denial, needsApproval } from '../../../domain/agent/rules/policy.ts'
import { agentStateAt } from '../../../domain/agent/runtime/history/replay.ts'
import type { AgentState } from '../../../domain/agent/state/state.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, micros, most } from '../figure.ts'
import { median, timed } from '../measure.ts'

// What one decision of the policy and one of the router cost, on a state as it is in the middle of a run.

const TIMES = 200_000

export const decisions: Case = {
  name: 'decisions',
  async run(bench: Bench): Promise<Figure[]> {
    const { data, agentId } = await bench.long()
    const log = await openSqliteLog({ folder: paths(data).log, mode: 'reader' })
    const { state } = await agentStateAt({ log, blobs: new FileBlobs(paths(data).blobs) }, agentId, { step: 100 })
    await log.close()
    const { tools } = state.spec
    let [refused, asked] = [0, 0]
    const judge = (n: number) => {
      const tool = tools[n % tools.length]!
      if (denial(state, tool) !== null) refused += 1
      // A request for a permission always asks a person.
      if (
        needsApproval(state, { toolName: tool.name, effect: tool.effect }) !== null &&
        tool.name !== 'request_permission'
      )
        asked += 1
    }
    const resolve = () => {
      if (route(routingFacts(state, 'turn')).resolved === '') refused += 1
    }
    const ruled = routed(state)
    const figuresOf = () => FIGURES
    const byRules = () => {
      if (route(routingFacts(ruled, 'turn', null, figuresOf)).rule !== 'last') refused += 1
    }
    const { known } = ruled.spec.models
    const cheapest = () => {
      if (known.reduce((a, b) => ((b.price?.input ?? 0) < (a.price?.input ?? 0) ? b : a)).id === '') refused += 1
    }
    const figures: Figure[] = []
    const floor = await each(bench, cheapest)
    for (const [name, decide, beside] of [
      ['policy', judge, ''],
      ['routing', resolve, ''],
      ['routing decision among 5 models by 5 rules, by a money budget: one', byRules, micros(floor)],
    ] as const) {
      const value = await each(bench, decide)
      const title = name.endsWith('one') ? name : `one ${name} decision`
      figures.push({ name: title, ours: micros(value), floor: beside, value, goal: most(10, ' µs') })
    }
    if (refused + asked > 0) throw new Error('the measured policy refused a tool of the run, or asked for one')
    return figures
  },
}

const FIGURES = { calls: 20, errors: 1, timeouts: 0, medianMs: 900, health: 'healthy' } as const

/** The state of a run with rules of which the last one matches, and a budget of money. */
function routed(state: AgentState): AgentState {
  const price = { asOf: '2026-01-01', input: 2_000_000_000, output: 10_000_000_000, cacheRead: 0, cacheWrite: 0 }
  const first = state.spec.models.known[0]!
  const known = ['a', 'b', 'c', 'd', 'e'].map((id, n) => ({
    ...first,
    id,
    price: { ...price, input: price.input + n },
  }))
  const when = { phases: ['nowhere'], risks: ['low' as const] }
  const never = [1, 2, 3, 4].map((n) => ({ name: `never ${n}`, when, policy: 'cost' as const }))
  const rules = [...never, { name: 'last', policy: 'cost' as const }]
  const models = { requested: 'a', safeDefault: 'a', known, routing: { models: known.map(({ id }) => id), rules } }
  return { ...state, spec: { ...state.spec, models, budget: { tokens: null, nanoDollars: 9_000_000_000_000 } } }
}

/** CPU of one decision, the median of the rounds, µs. */
async function each(bench: Bench, decide: (n: number) => void): Promise<number> {
  const found: number[] = []
  for (let round = 0; round <= bench.rounds; round++) {
    const { cpuMs } = await timed(() => {
      for (let n = 0; n < TIMES; n++) decide(n)
    })
    if (round > 0) found.push((cpuMs * 1000) / TIMES)
  }
  return median(found)
}
