import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestOf } from '../../domain/agent/state/digest.ts'
import type { Task } from '../../domain/agent/tasks/events.ts'
import { graphFault } from '../../domain/agent/tasks/state.ts'
import { call, calls, completes } from '../support/harness.ts'
import { property } from '../support/property.ts'
import { given, type Said, tool } from '../support/story.ts'

// Given an agent that keeps tasks, when it updates them, then each later request shows the graph as it is.

const updates = (tasks: object[], remove?: string[]) =>
  calls(call('update_tasks', { tasks, ...(remove && { remove }) }))
const run = async (says: readonly Said[], spec: Record<string, unknown> = {}) => {
  const told = await given({
    says,
    tools: [tool('look', {}, () => 'x'.repeat(3_000))],
    spec: { listsTasks: true, ...spec },
  })
  return { ...told, end: await told.drive() }
}
const NO_MORE = { output: 20, cacheRead: 0, cacheWrite: 0 }
const last = (messages: readonly { role: string; content: unknown }[]) => messages.at(-1)!
const TWO = [
  { id: 'a', title: 'read the code' },
  { id: 'b', title: 'mend it', dependencies: ['a'] },
]

describe('update_tasks (CONTRACTS 9, working memory)', () => {
  test('the graph is a fold: tasks are added, changed and removed, and the next request shows it', async () => {
    const done = [
      { id: 'a', status: 'completed' },
      { id: 'c', title: 'tell of it' },
    ]
    const { seen, state } = await run([updates(TWO), updates(done), updates([], ['c']), completes()])
    expect(seen(0).some(({ content }) => String(content).includes('Your tasks'))).toBe(false)
    expect(last(seen(1))).toEqual({
      role: 'system',
      content:
        'Your tasks (0 of 2 completed); change them with update_tasks:\n[ ] a: read the code\n[ ] b: mend it (after a)',
    })
    expect(last(seen(2)).content).toContain('[x] a: read the code\n[ ] b: mend it\n[ ] c: tell of it')
    expect((await state()).tasks?.tasks).toEqual([
      { id: 'a', title: 'read the code', status: 'completed', dependencies: [] },
      { id: 'b', title: 'mend it', status: 'pending', dependencies: ['a'] },
    ])
  })

  test.each([
    [[{ id: 'a' }], undefined, /needs a title/],
    [[{ id: 'a', title: 't', dependencies: ['z'] }], undefined, /"z", which is no task/],
    [[{ id: 'a', title: 't', dependencies: ['a'] }], undefined, /cycle/],
    [
      [
        { id: 'a', title: 't', dependencies: ['b'] },
        { id: 'b', title: 't', dependencies: ['a'] },
      ],
      undefined,
      /a → b → a/,
    ],
    [[{ id: 'a b', title: 't' }], undefined, /letters, digits/],
    [[{ id: 'a', title: 't', status: 'maybe' }], undefined, /status/],
    [[], ['z'], /no task "z"/],
    [[], [], /name a task/],
  ])('%j %j is refused by name and changes nothing', async (tasks, remove, why) => {
    const told = await run([updates(tasks, remove), completes()])
    expect(await told.ends()).toEqual(['update_tasks: INVALID_ARGUMENTS', 'complete_task: ok'])
    expect(await told.message()).toMatch(why)
    expect(await told.of('tasks_updated')).toEqual([])
  })

  test('a graph that is too large, or that a change would close to a cycle, is refused whole', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({ id: `t${n}`, title: 't' }))
    const chain = Array.from({ length: 100 }, (_, n) => ({
      id: `t${n}`,
      title: 't',
      dependencies: n > 0 ? [`t${n - 1}`] : [],
    }))
    const closed = [{ id: 't0', dependencies: ['t99'] }]
    const renamed = [{ id: 't0', title: 'again', dependencies: ['t50'] }]
    const names = ['__proto__', 'constructor'].map((id) => ({ id, title: 't' }))
    const told = await run([
      updates(many),
      updates(chain),
      updates(closed),
      updates(renamed, ['t0']),
      updates(names),
      completes(),
    ])
    const ends = await told.ends()
    expect(ends.filter((end) => end === 'update_tasks: ok')).toHaveLength(1)
    expect(ends[1]).toBe('update_tasks: ok')
    const { tasks } = (await told.state()).tasks!
    expect(tasks.map(({ id }) => id)).toEqual(chain.map(({ id }) => id))
    expect(tasks[0]).toMatchObject({ title: 't', dependencies: [] })
  })

  test('a task that others depend on cannot be removed alone', async () => {
    const told = await run([updates(TWO), updates([], ['a']), completes()])
    expect(await told.ends()).toContain('update_tasks: INVALID_ARGUMENTS')
  })

  test('two updates of one turn are judged one after the other', async () => {
    const both = calls(
      call('update_tasks', { tasks: [{ id: 'a', dependencies: ['b'] }] }, 'x'),
      call('update_tasks', { tasks: [{ id: 'b', dependencies: ['a'] }] }, 'y'),
    )
    const flat = updates([
      { id: 'a', title: 'one' },
      { id: 'b', title: 'two' },
    ])
    const told = await run([flat, both, completes()], { policy: { mode: 'batch' } })
    expect((await told.ends()).slice(1, 3).sort()).toEqual(['update_tasks: INVALID_ARGUMENTS', 'update_tasks: ok'])
    expect(graphFault((await told.state()).tasks!.tasks)).toBeNull()
  })

  test('it survives compression, and every request is rebuilt byte for byte', async () => {
    const used = (text: object) => ({ input: Math.ceil(JSON.stringify(text).length / 3), ...NO_MORE })
    const turns = Array.from(
      { length: 14 },
      (_, n): Said =>
        (asked) => ({
          ...calls(call('look', { n })),
          usage: used(asked),
        }),
    )
    const context = { maxTokens: 9_000, compressionStrategy: 'truncate' }
    const told = await run([updates(TWO), ...turns, completes()], { context })
    expect(told.end).toEqual({ end: 'done' })
    expect((await told.of('context_compressed')).length).toBeGreaterThan(0)
    for (let n = 1; n < told.requests.length; n++) expect(last(told.seen(n)).content).toContain('b: mend it (after a)')
    for (const [n, request] of told.requests.entries())
      expect((await told.runtime.requests(told.runId, n + 1)).map((one) => one.request)).toEqual([request])
  })

  test('the digest does not cover titles, which can be erased, and covers all else', async () => {
    const { state } = await run([updates(TWO), completes()])
    const now = await state()
    const digest = (change: Partial<Task>) =>
      digestOf({ ...now, tasks: { ...now.tasks!, tasks: now.tasks!.tasks.map((task) => ({ ...task, ...change })) } })
    expect(digest({ title: '[erased]' })).toBe(digestOf(now))
    expect(digest({ status: 'cancelled' })).not.toBe(digestOf(now))
  })
})

const graph = fc.array(fc.array(fc.nat({ max: 7 }), { maxLength: 3 }), { minLength: 1, maxLength: 8 }).map((rows) =>
  rows.map(
    (of, n): Task => ({
      ...{ id: `t${n}`, title: 't', status: 'pending' },
      dependencies: of.map((to) => `t${to % rows.length}`),
    }),
  ),
)

test('a graph is refused where, and only where, its tasks cannot be worked through', () => {
  const holds = fc.property(graph, (tasks) => {
    const left = new Map(tasks.map((task) => [task.id, task.dependencies]))
    for (let before = -1; before !== left.size; ) {
      before = left.size
      for (const [id, of] of left) if (of.every((one) => !left.has(one))) left.delete(id)
    }
    expect(graphFault(tasks) === null).toBe(left.size === 0)
  })
  fc.assert(holds, property(200))
})
