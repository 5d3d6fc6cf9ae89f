import { useState } from 'preact/hooks'
import { errorText } from '../../client/api.ts'
import { jump } from '../../page/router.ts'
import { shown } from '../../parts/shown.ts'
import type { AgentModel } from '../agent-model.ts'
import { after } from '../outline.ts'
import type { Brief } from '../states-at-position.ts'
import { wholeEvent } from './whole-event.ts'

const SIGNS = { pending: '○', in_progress: '▶', completed: '✓', cancelled: '⊘' } as const

/** The task graph at the position. Each task links to the event that last wrote it. */
export function Tasks({ runId, agent, state }: { runId: string; agent: AgentModel; state: Brief }) {
  const [fault, setFault] = useState('')
  if (state.tasks.length === 0) return null
  const goToWriter = async (id: string) => {
    try {
      const at = await writerOfTask(agent, id, state.revision)
      const to = agent.agentId === runId ? null : agent.agentId
      jump({ agent: to, at: String(at), tab: null })
    } catch (error) {
      setFault(errorText(error))
    }
  }
  return (
    <>
      <h3>Tasks</h3>
      {fault !== '' && <p class="fault">{fault}</p>}
      <ul class="files">
        {state.tasks.map(({ id, title, status, dependencies }) => (
          <li key={id}>
            <span aria-hidden="true">{SIGNS[status]}</span> <span class="mono">{id}</span> <bdi>{shown(title)}</bdi>{' '}
            <span class="quiet">
              {status.replace('_', ' ')}
              {dependencies.length > 0 && `, after ${dependencies.join(', ')}`}
            </span>{' '}
            <button
              type="button"
              class="link"
              aria-label={`Who wrote this? task ${id}`}
              onClick={() => void goToWriter(id)}
            >
              Who wrote this?
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The last event up to a revision that sets a task. 0 if none does: a fork inherits the task with its first event. */
async function writerOfTask({ agentId, outline }: AgentModel, id: string, place: number): Promise<number> {
  const updates = outline.ofType('tasks_updated')
  for (const at of updates.slice(0, after(updates, place)).toReversed()) {
    const event = await wholeEvent(agentId, at)
    if (event.type === 'tasks_updated' && event.payload?.set.some((task) => task.id === id)) return at
  }
  return 0
}
