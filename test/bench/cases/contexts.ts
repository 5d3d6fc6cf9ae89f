import { call, calls, completes, harness, says, testModel, testSpec, toolSpec } from '../../support/harness.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, megabytes, micros, most } from '../figure.ts'
import { median } from '../measure.ts'

// A long run whose context is compressed again and again, in memory: what a turn costs, and how long its requests are.

const LIMIT = 16_000
const STRETCH = 100

interface Stretch {
  readonly cpuMs: number
  readonly longest: number
}

/** Stretches of a run of so many turns, whose results have 1,500 bytes. */
export async function compressedRun(turns: number): Promise<Stretch[]> {
  const stretches: Stretch[] = []
  let [asked, longest] = [0, 0]
  let from = process.cpuUsage()
  const look = { spec: toolSpec('look'), run: async () => ({ content: 'x'.repeat(1_500) }) }
  const h = harness(
    (request) => {
      const size = JSON.stringify(request).length
      h.requests.length = 0
      const usage = { input: Math.ceil(size / 3), output: 40, cacheRead: 0, cacheWrite: 0 }
      if (request.tools.length === 0) return { ...says('What has happened so far, in a few words.'), usage }
      asked++
      longest = Math.max(longest, size)
      if (asked % STRETCH === 0) {
        const { user, system } = process.cpuUsage(from)
        stretches.push({ cpuMs: (user + system) / 1000, longest })
        longest = 0
        from = process.cpuUsage()
      }
      return asked < turns ? { ...calls(call('look', { n: asked }, `c${asked}`)), usage } : { ...completes(), usage }
    },
    { tools: [look] },
  )
  const known = [{ ...testModel, contextTokens: LIMIT }]
  const models = { requested: 'test-model', safeDefault: 'test-model', known }
  const runId = await h.start(testSpec({ models, limits: { maxTurns: turns + 10, wallClockMs: null } }, [look]))
  const end = await h.drive(runId)
  if (end.end !== 'done') throw new Error(`the measured run did not complete: ${JSON.stringify(end)}`)
  return stretches
}

function growth(name: string, early: number, late: number, show: (n: number) => string): Figure {
  return {
    name,
    ours: show(late),
    floor: show(early),
    value: late / early,
    goal: most(1.2, ' ×'),
    note: 'floor: early turns',
  }
}

/** CPU of a turn of a run with so many tools of MCP servers beside its own, in µs. */
async function turnWithTools(count: number, turns: number): Promise<number> {
  const parameters = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`p${n}`, { type: 'string' }])),
  }
  const look = { spec: toolSpec('look'), run: async () => ({ content: 'x' }) }
  const others = Array.from({ length: count }, (_, n) => ({
    spec: toolSpec(`web:tool_${n}`, { parameters, description: 'Does one of many things. '.repeat(10) }),
    run: look.run,
  }))
  const tools = [look, ...others]
  let asked = 0
  const h = harness(
    () => {
      h.requests.length = 0
      return ++asked < turns ? calls(call('look', { n: asked }, `c${asked}`)) : completes()
    },
    { tools },
  )
  const runId = await h.start(testSpec({ limits: { maxTurns: turns + 10, wallClockMs: null } }, tools))
  const from = process.cpuUsage()
  const end = await h.drive(runId)
  const { user, system } = process.cpuUsage(from)
  if (end.end !== 'done') throw new Error(`the measured run did not complete: ${JSON.stringify(end)}`)
  return (user + system) / turns
}

async function fiftyTools(turns: number): Promise<Figure> {
  await turnWithTools(0, turns)
  const [without, beside] = [await turnWithTools(0, turns), await turnWithTools(50, turns)]
  return {
    name: 'CPU that 50 MCP tools add to a turn',
    ours: micros(beside),
    floor: micros(without),
    value: Math.max(0, beside - without) / 1000,
    goal: most(5, ' ms'),
    note: 'floor: without them',
  }
}

export const contexts: Case = {
  name: 'contexts',
  async run(bench: Bench): Promise<Figure[]> {
    const stretches = await compressedRun(bench.quick ? 1_000 : 5_000)
    const part = Math.floor(stretches.length / 5)
    const [early, late] = [stretches.slice(part, 2 * part), stretches.slice(-part)]
    const cpu = (some: readonly Stretch[]) => median(some.map(({ cpuMs }) => (cpuMs * 1000) / STRETCH))
    const size = (some: readonly Stretch[]) => Math.max(...some.map(({ longest }) => longest))
    return [
      growth('growth of CPU per turn, compressed', cpu(early), cpu(late), micros),
      growth('growth of the longest request, compressed', size(early), size(late), megabytes),
      await fiftyTools(bench.quick ? 100 : 400),
    ]
  },
}
