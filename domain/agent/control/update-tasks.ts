import { z } from 'zod'
import { type Task, TaskId, TaskStatus } from '../tasks/events.ts'
import { changedTasks, graphFault, MOST_TASKS, taskProgress } from '../tasks/state.ts'
import { controlTool, nonBlank } from './control-tool.ts'

const Change = z.strictObject({
  id: TaskId.describe('Your own short name of the task.'),
  title: nonBlank.max(300).optional().describe('What is to be done; required for a new task.'),
  status: TaskStatus.optional().describe('A new task is pending where this is absent.'),
  dependencies: z
    .array(TaskId)
    .max(50)
    .transform((ids) => [...new Set(ids)])
    .optional()
    .describe('Ids of tasks that come first; replaces those of before.'),
})

const schema = z
  .strictObject({
    tasks: z.array(Change).max(MOST_TASKS).optional().describe('Tasks to add, or to change; all others stay.'),
    remove: z.array(TaskId).max(MOST_TASKS).optional().describe('Ids of tasks to drop.'),
  })
  .refine(({ tasks = [], remove = [] }) => tasks.length + remove.length > 0, 'name a task to add, change or remove')
type Input = z.infer<typeof schema>

/** Every request contains the task graph, so that compression does not hide it (seed 001: working memory). */
export const updateTasks = controlTool({
  name: 'update_tasks',
  description:
    'Keeps the list of your tasks: adds, changes or removes some. The list is shown to you with every request. Dependencies must not form a cycle.',
  schema,
  kind: 'continues',
  needsTools: true,
  refusal: ({ tasks }, input) => {
    const change = changeOf(tasks?.tasks ?? [], input)
    return 'fault' in change ? change.fault : null
  },
  decide: ({ tasks }, _, input) => {
    const change = changeOf(tasks?.tasks ?? [], input)
    if ('fault' in change) return { events: [], end: { error: { code: 'INVALID_ARGUMENTS', message: change.fault } } }
    const { set, removed, after } = change
    return {
      events: [{ type: 'tasks_updated', body: { set, removed } }],
      end: { content: after.length === 0 ? 'there are no tasks' : taskProgress(after) },
    }
  },
})

type Changed = { readonly set: Task[]; readonly removed: string[]; readonly after: readonly Task[] }

function changeOf(before: readonly Task[], { tasks = [], remove = [] }: Input): Changed | { readonly fault: string } {
  const known = new Map(before.map((task) => [task.id, task]))
  const removed = [...new Set(remove)]
  const unknown = removed.find((id) => !known.has(id))
  if (unknown !== undefined) return { fault: `remove: there is no task "${unknown}"` }
  const set = new Map<string, Task>()
  for (const [at, { id, title, status, dependencies }] of tasks.entries()) {
    if (removed.includes(id)) return { fault: `tasks.${at}: "${id}" is removed by the same call` }
    const task = set.get(id) ?? known.get(id)
    const named = title ?? task?.title
    if (named === undefined) return { fault: `tasks.${at}.title: the new task "${id}" needs a title` }
    set.set(id, {
      id,
      title: named,
      status: status ?? task?.status ?? 'pending',
      dependencies: dependencies ?? task?.dependencies ?? [],
    })
  }
  const after = changedTasks(before, [...set.values()], removed)
  const fault = graphFault(after)
  return fault === null ? { set: [...set.values()], removed, after } : { fault }
}
