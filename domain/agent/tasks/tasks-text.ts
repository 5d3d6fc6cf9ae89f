import type { Task } from './events.ts'
import { taskProgress, unfinishedDependencies } from './state.ts'

// Version 3 of the assembler (request.ts) covers the wording: a change needs a new version.

const MARKS: Readonly<Record<Task['status'], string>> = {
  pending: ' ',
  in_progress: '>',
  completed: 'x',
  cancelled: '-',
}

export function tasksText(tasks: readonly Task[]): string {
  const lines = tasks.map((task) => {
    const waits = task.status === 'pending' ? unfinishedDependencies(task, tasks) : []
    return `[${MARKS[task.status]}] ${task.id}: ${task.title}${waits.length > 0 ? ` (after ${waits.join(', ')})` : ''}`
  })
  return [`Your tasks (${taskProgress(tasks)}); change them with update_tasks:`, ...lines].join('\n')
}
