import { type AppendRoot, EMPTY_ROOT, type Root } from '../../log/root.ts'
import type { EventOf } from '../events/events.ts'
import type { Task } from './events.ts'

/** The task graph. `changes`: the root of its events, which covers the titles. */
export interface TaskGraph {
  readonly changes: Root
  readonly tasks: readonly Task[]
}

export const NO_TASKS: TaskGraph = { changes: EMPTY_ROOT, tasks: [] }

/** The most tasks of an agent. Every request contains the whole graph. */
export const MOST_TASKS = 100

/** The tasks after a change, in the order in which they were added. */
export function changedTasks(
  tasks: readonly Task[],
  set: readonly Task[],
  removed: readonly string[],
): readonly Task[] {
  const changed = new Map(tasks.map((task) => [task.id, task]))
  for (const id of removed) changed.delete(id)
  for (const task of set) changed.set(task.id, task)
  return [...changed.values()]
}

export function updatedTasks(
  { changes, tasks }: TaskGraph,
  { body: { set, removed }, bodyHash }: EventOf<'tasks_updated'>,
  append: AppendRoot,
): TaskGraph {
  return { changes: append(changes, bodyHash), tasks: changedTasks(tasks, set, removed) }
}

/** The graph as the digest covers it: without titles, which can be erased. */
export const graphWithoutText = ({ changes, tasks }: TaskGraph): unknown => ({
  changes,
  tasks: tasks.map(({ title: _, ...task }) => task),
})

/** Why the tasks are not a valid graph, or null: too many tasks, a missing dependency, or a cycle. */
export function graphFault(tasks: readonly Task[]): string | null {
  if (tasks.length > MOST_TASKS)
    return `there would be ${tasks.length} tasks; at most ${MOST_TASKS} are kept, so remove some that are completed`
  const byId = new Map(tasks.map((task) => [task.id, task]))
  for (const { id, dependencies } of tasks) {
    const missing = dependencies.find((one) => !byId.has(one))
    if (missing !== undefined)
      return `task "${id}" depends on "${missing}", which is no task; add it, or drop the dependency`
  }
  const cycle = cycleIn(byId)
  return cycle === null
    ? null
    : `the tasks ${cycle.join(' → ')} depend on each other in a cycle; drop one of the dependencies`
}

/** The ids along a cycle, with the first id repeated at the end, or null. */
function cycleIn(byId: ReadonlyMap<string, Task>): readonly string[] | null {
  const done = new Set<string>()
  const way: string[] = []
  const visit = (id: string): readonly string[] | null => {
    if (way.includes(id)) return [...way.slice(way.indexOf(id)), id]
    if (done.has(id)) return null
    way.push(id)
    for (const next of byId.get(id)!.dependencies) {
      const found = visit(next)
      if (found !== null) return found
    }
    way.pop()
    done.add(id)
    return null
  }
  for (const id of byId.keys()) {
    const found = visit(id)
    if (found !== null) return found
  }
  return null
}

/** Ids of unfinished tasks that a task depends on. */
export function unfinishedDependencies({ dependencies }: Task, tasks: readonly Task[]): readonly string[] {
  const open = new Set(
    tasks.filter(({ status }) => status === 'pending' || status === 'in_progress').map(({ id }) => id),
  )
  return dependencies.filter((id) => open.has(id))
}

export function taskProgress(tasks: readonly Task[]): string {
  const count = (status: Task['status']) => tasks.filter((task) => task.status === status).length
  const cancelled = count('cancelled')
  const left = tasks.length - cancelled
  return `${count('completed')} of ${left} completed${cancelled > 0 ? `, ${cancelled} cancelled` : ''}`
}
