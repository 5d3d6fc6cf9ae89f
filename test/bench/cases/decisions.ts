import { FileBlobs } from '../../../adapters/blobs-file/store.ts'
import { openSqliteLog } from '../../../adapters/log-sqlite/open.ts'
import { paths } from '../../../api/host/paths.ts'
import { denial, needsApproval } from '../../../domain/agent/rules/policy.ts'
import { route, routingFacts } from '../../../domain/agent/rules/routing.ts'
import { stateAt } from '../../../domain/runtime/agent/history/replay.ts'
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
    const { state } = await stateAt({ log, blobs: new FileBlobs(paths(data).blobs) }, agentId, { step: 100 })
    await log.close()
    const { tools } = state.spec
    let refused = 0
    const judge = (n: number) => {
      const tool = tools[n % tools.length]!
      if (denial(state, tool) !== null || needsApproval(state, tool.name) !== null) refused += 1
    }
    const resolve = () => {
      if (route(routingFacts(state, 'turn')).resolved === '') refused += 1
    }
    const figures: Figure[] = []
    for (const [name, decide] of [
      ['policy', judge],
      ['routing', resolve],
    ] as const) {
      const each: number[] = []
      for (let round = 0; round <= bench.rounds; round++) {
        const { cpuMs } = await timed(() => {
          for (let n = 0; n < TIMES; n++) decide(n)
        })
        if (round > 0) each.push((cpuMs * 1000) / TIMES)
      }
      const value = median(each)
      figures.push({ name: `one ${name} decision`, ours: micros(value), floor: '', value, goal: most(10, ' µs') })
    }
    if (refused > 0) throw new Error('the measured policy refused a tool of the run')
    return figures
  },
}
