import { ModelError } from '../../../domain/calls/errors.ts'
import type { ModelRequest } from '../../../domain/ports/index.ts'
import { call, calls, completes, says, testModel, testSpec } from '../harness.ts'
import { tool } from '../story.ts'
import { tale } from './tale.ts'
import { until } from './tales-people.ts'

// Contexts that grow too long: pruned, summarised, truncated and cut; hidden turns that people restore; knowledge.

const LIMIT = 4_000

const models = {
  requested: 'test-model',
  safeDefault: 'test-model',
  known: [{ ...testModel, contextTokens: LIMIT, maxOutputTokens: 400, timeoutMs: 2 ** 30 }],
}
const used = (request: ModelRequest) => ({
  input: Math.ceil(JSON.stringify(request).length / 3),
  output: 20,
  cacheRead: 0,
  cacheWrite: 0,
})
const knowledge = [
  { kind: 'file', name: 'rules.md', text: 'Be brief.' },
  { kind: 'text', name: 'for coders', text: 'Test first.', roles: ['coder'] },
  { name: 'hint', text: 'Ann knows the database.' },
  { name: 'for plans', text: 'Plan first.', phases: ['plan'] },
]

/** The number of the run's looks, from the last result. */
const looks = ({ messages }: ModelRequest) => {
  const last = messages.findLast((one) => one.role === 'tool' && one.toolName === 'look')
  return Number(/^look (\d+)/.exec(String(last?.content))?.[1] ?? 0)
}

export async function contexts() {
  const look = tool('look', {}, ({ n, bytes }) => `look ${n} ${'x'.repeat(Number(bytes))}`)
  const released = Promise.withResolvers<void>()
  let summaries = 0
  const summary = async () => {
    const nth = ++summaries
    if (nth === 1) await released.promise
    if (nth === 3 || nth === 4) throw new ModelError('OVERLOADED', 'not now', { transient: true })
    return says(`what happened, told for the ${nth}. time`)
  }
  const answer = async (request: ModelRequest) => {
    const usage = used(request)
    if (request.tools.length === 0) return { ...(await summary()), usage }
    const n = looks(request) + 1
    const bytes = request.messages.some(({ content }) => content === 'look far') ? 4_000 : 700
    if (request.messages.at(-1)?.role === 'user') return { ...calls(call('look', { n, bytes }, `c${n}`)), usage }
    if (n === 24 || n === 34) return { ...calls(call('ask_user', { question: 'More?' }, 'ask')), usage }
    return n > 40 ? { ...completes(), usage } : { ...calls(call('look', { n, bytes }, `c${n}`)), usage }
  }
  const limits = { maxTurns: 80, wallClockMs: null }
  const spec = { models, limits, knowledge }
  const run = await tale({ says: [answer], tools: [look], spec })
  void run.drive()
  await until(() => summaries === 1)
  const second = run.takeOver()
  await until(() => summaries === 2)
  released.resolve()
  await second
  await run.tell({ kind: 'expand_context', turns: { from: 1, to: 2 } })
  await run.tell({ kind: 'input', text: 'go on' })
  await run.driveOther(run.runId)
  await run.tell({ kind: 'expand_context' })
  await run.tell({ kind: 'input', text: 'and again' })
  await run.driveOther(run.runId)
  for (const [name, compressionStrategy] of [
    ['far', 'truncate'],
    ['summing', 'summarize'],
  ] as const) {
    const context = { compressionStrategy, maxTokens: 3_500, preserveLastN: 1 }
    const other = testSpec({ models, context, limits: { maxTurns: 12, wallClockMs: null } }, [look])
    await run.tell({ kind: 'start', spec: other, task: name === 'far' ? 'look far' : 'sum up' }, {}, name)
    await run.driveOther(name)
  }
  return run.log
}

/** A task graph that grows, is completed, and stays visible while its context is compressed. */
export async function tasks() {
  const look = tool('look', {}, ({ n }) => `look ${n} ${'x'.repeat(2_000)}`)
  const updates = (tasks: object[], remove: string[] = []) => calls(call('update_tasks', { tasks, remove }))
  const two = [
    { id: 'read', title: 'read the code', status: 'in_progress' },
    { id: 'mend', title: 'mend it', dependencies: ['read'] },
  ]
  const says = [
    updates(two),
    ...Array.from({ length: 8 }, (_, n) => (request: ModelRequest) => ({
      ...calls(call('look', { n })),
      usage: used(request),
    })),
    updates([
      { id: 'read', status: 'completed' },
      { id: 'tell', title: 'tell of it' },
    ]),
    updates([{ id: 'mend', status: 'cancelled' }], ['tell']),
    updates([{ id: 'read', dependencies: ['mend'] }]),
    completes(),
  ]
  const context = { compressionStrategy: 'truncate', preserveLastN: 1 }
  const run = await tale({ says, tools: [look], spec: { models, context, listsTasks: true } })
  await run.drive()
  return run.log
}
