import type { AskView } from '../../operations/approvals/schemas.ts'
import { taskOf } from '../page/waiting.ts'
import { short } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'

const MOST = 80
const cut = (text: string): string => (text.length > MOST ? `${text.slice(0, MOST)}…` : text)

/** The path from a run (named by its task) to the agent that asks. Each part links to its agent. */
export function AgentWay({ runId, path }: { runId: string; path: AskView['agentPath'] }) {
  const task = taskOf.value.get(runId) ?? undefined
  return (
    <>
      <span class="way">
        {path.map(({ agentId, role }, nth) => (
          <span key={agentId}>
            {nth > 0 && ' › '}
            <a href={nth === 0 ? `/runs/${runId}` : `/runs/${runId}?agent=${agentId}`} title={agentId}>
              <bdi>{shown(role ?? (task === undefined ? short(agentId) : 'agent'))}</bdi>
            </a>
          </span>
        ))}
      </span>
      {task !== undefined && (
        <>
          {' '}
          in “<bdi>{shown(cut(task))}</bdi>”
        </>
      )}
    </>
  )
}
