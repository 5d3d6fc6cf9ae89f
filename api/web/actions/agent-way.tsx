import type { AskView } from '../../app/schemas/approvals.ts'
import { short } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'

/** The way from a run's root agent to the one that asks; each part opens that agent. */
export function AgentWay({ runId, path }: { runId: string; path: AskView['agentPath'] }) {
  return (
    <span class="way">
      {path.map(({ agentId, role }, nth) => (
        <span key={agentId}>
          {nth > 0 && ' › '}
          <a href={nth === 0 ? `/runs/${runId}` : `/runs/${runId}?agent=${agentId}`} title={agentId}>
            <bdi>{shown(role ?? short(agentId))}</bdi>
          </a>
        </span>
      ))}
    </span>
  )
}
