import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UserCommand } from '../../domain/agent/decide/commands.ts'
import { ToolError } from '../../domain/calls/errors.ts'
import type { Tool } from '../../domain/ports/index.ts'
import { call, calls, completes, harness, testSpec, toolSpec, USER } from '../support/harness.ts'
import { law } from '../support/laws.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { VirtualClock } from '../support/time/virtual-clock.ts'

// Law 4: the order in which parallel results arrive changes neither the decisions nor what the model sees next.

const ENDS = ['ok', 'permanent', 'retried', 'changes', 'counts'] as const
const TOOL_OF = { ok: 'look', permanent: 'look', retried: 'look', changes: 'put', counts: 'count' } as const
interface Batch {
  readonly ends: readonly (typeof ENDS)[number][]
  readonly maxParallel: number
}

const batch = fc.record({
  ends: fc.array(fc.constantFrom(...ENDS), { minLength: 2, maxLength: 5 }),
  maxParallel: fc.integer({ min: 2, max: 5 }),
})

/** One batch turn whose calls take the given times, then the same calls once more. */
async function run({ ends, maxParallel }: Batch, delays: readonly number[]) {
  const clock = new VirtualClock()
  let put: number[] = []
  const tool = (name: string, effect: 'pure' | 'idempotent'): Tool => ({
    spec: toolSpec(name, { effect, paths: { path: effect === 'pure' ? 'read' : 'write' } }),
    async run(args, { attempt }) {
      const i = args.i as number
      await clock.sleep(delays[i]!)
      if (ends[i] === 'permanent') throw new ToolError('EXECUTION_FAILED', `no ${i}`)
      if (ends[i] === 'retried' && attempt === 1) throw new ToolError('EXECUTION_FAILED', 'reset', { transient: true })
      if (ends[i] === 'changes') put = [...put, i].sort()
      return { content: { i, attempt } }
    },
  })
  // It declares nothing and may look at everything: here, at what has been put.
  const count: Tool = {
    spec: toolSpec('count', { effect: 'pure' }),
    async run(args) {
      await clock.sleep(delays[args.i as number]!)
      return { content: put.join() }
    },
  }
  const tools = [tool('look', 'pure'), tool('put', 'idempotent'), count]
  const blocks = ends.map((end, i) => call(TOOL_OF[end], { i, path: `file${i}` }, `p${i}`))
  const h = harness((_, n) => (n <= 2 ? calls(...blocks) : completes()), {
    tools,
    ports: {
      clock,
      environment: async () => ({
        workspace: { resolve: async (path: string) => path, versions: { snapshot: async () => 'tree' } } as never,
        sandbox: null,
        secrets: NO_SECRETS,
        reap: async () => undefined,
        close: async () => undefined,
      }),
    },
  })
  const runId = await h.start(testSpec({ policy: { mode: 'batch', maxParallel } }, tools))
  const standing: UserCommand = { kind: 'standing_approval', tools: ['*'] }
  await h.runtime.execute(runId, standing, { by: USER })
  const end = await h.drive(runId)
  const events = await h.events(runId)
  const arrival = events.flatMap(({ type, toolCallId }) => (type === 'tool_call_end' ? [toolCallId] : []))
  const { machine, failedCalls, violations, messages, turn, step, spent } = (await h.runtime.at(runId, null)).state
  const ended = events
    .flatMap((event) =>
      event.type === 'tool_call_end' ? [{ id: event.toolCallId, ...event.body, step: 0, durationMs: 0 }] : [],
    )
    .sort((a, b) => (a.id! < b.id! ? -1 : 1))
  const decided = { end, machine, failedCalls, violations, count: messages.count, turn, step, spent, ended }
  return { arrival: arrival.join(), decided, seen: h.requests.map((request) => request.messages) }
}

const delays = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 5, maxLength: 5 })
const arrivals = fc.tuple(batch, delays, delays)

/** Fixed: whether a sample holds arrivals in different orders must not depend on chance. */
const SEED = 5

test('any order of arrival: the same decisions, the same requests', async () => {
  await law(arrivals, 30, async ([plan, one, other]) => {
    const [a, b] = [await run(plan, one), await run(plan, other)]
    expect(b.seen).toEqual(a.seen)
    expect(b.decided).toEqual(a.decided)
  })
})

test('the results do arrive in different orders', async () => {
  let differed = 0
  for (const [plan, one, other] of fc.sample(arrivals, { numRuns: 10, seed: SEED }))
    if ((await run(plan, one)).arrival !== (await run(plan, other)).arrival) differed++
  expect(differed).toBeGreaterThan(2)
})

test('two calls that change the working memory keep the order in which they were asked for', async () => {
  const h = harness((_, n) =>
    n === 1 ? calls(...[1, 2, 3].map((value) => call('set_context', { key: 'k', value }, `p${value}`))) : completes(),
  )
  const runId = await h.start(testSpec({ policy: { mode: 'batch' } }))
  expect(await h.drive(runId)).toEqual({ end: 'done' })
  const types = await h.types(runId)
  const first = types.indexOf('tool_call_start')
  expect(types.slice(first, first + 6)).toEqual([
    'tool_call_start',
    'context_set',
    'tool_call_end',
    'tool_call_start',
    'context_set',
    'tool_call_end',
  ])
  const blocks = (await h.events(runId)).flatMap((event) =>
    event.type === 'context_set' && 'argumentsRef' in event.body ? [event.body.argumentsRef.block] : [],
  )
  expect(blocks).toEqual([0, 1, 2])
})
