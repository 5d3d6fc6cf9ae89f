import type { Change } from '../../engine/changes/change.ts'
import { put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** Changes of `tasks`: the task graph of each agent. A removed task keeps its row. */
export function tasks(e: ProjectedEvent): Change[] {
  if (e.type !== 'tasks_updated' || e.body === null) return []
  const about = { run_id: e.runId, revision: e.revision, updated_at: e.time }
  const row = (id: string) => ({ agent_id: e.agentId, task_id: id })
  return [
    ...e.body.removed.map((id) => put('tasks', row(id), { ...about, status: 'removed' })),
    ...e.body.set.map(({ id, title, status, dependencies }) =>
      put('tasks', row(id), { ...about, title, status, dependencies: JSON.stringify(dependencies) }),
    ),
  ]
}
