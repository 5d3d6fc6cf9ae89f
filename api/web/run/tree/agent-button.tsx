import { OTLP } from '../../../../domain/external/reported/backend.ts'
import { agentStatus } from '../../../cli/output/agent-status.ts'
import type { AgentThen } from '../../../operations/history/tree-at-schemas.ts'
import { jump } from '../../page/router.ts'
import { money, span } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { agentName, type TreeNode } from '../run-model.ts'
import { BudgetBars } from './budget-bars.tsx'

interface AgentButtonProps {
  readonly node: TreeNode
  /** The agent's state at the page's position. Null: the position is the end. */
  readonly then: AgentThen | 'unborn' | null
  readonly chosen: boolean
}

/** An agent of a run: its role and task, and either its status at the position or its present status, cost, time and budget. */
export function AgentButton({ node, then, chosen }: AgentButtonProps) {
  const { agentId, depth, task, backend, ungoverned, waiting, own, total } = node
  const asks =
    then === null && waiting.some((one) => one.for === 'approval' || one.for === 'doubt' || one.for === 'input')
  const isSum = chosen && own.nanoDollars !== total.nanoDollars
  const cost = `${money(total.nanoDollars)}${isSum ? `, own ${money(own.nanoDollars)}` : ''}`
  return (
    <button
      type="button"
      class={then === 'unborn' ? 'plain future' : 'plain'}
      title={agentId}
      aria-current={chosen || undefined}
      onClick={() => jump({ agent: depth === 0 ? null : agentId, at: placeOf(then) })}
    >
      <span class="agent-name">
        <bdi class="type">{shown(agentName(node))}</bdi> {asks && <span class="badge">asks</span>}{' '}
        {ungoverned && <span class="badge">ungoverned</span>}
        {ungoverned && backend !== OTLP && own.toolCalls > 0 && (
          <span class="quiet"> but for {own.toolCalls} of keepup's tools</span>
        )}{' '}
        {depth > 0 && task !== null && (
          <span class="agent-task">
            <bdi>{shown(task)}</bdi>
          </span>
        )}
      </span>
      <span class="quiet">{then === null ? `${agentStatus(node)} · ${cost}${timeOf(node)}` : standing(then)}</span>
      {then === null && <BudgetBars budget={node.budget} words={chosen} />}
    </button>
  )
}

/** The time from an agent's birth to its end. */
const timeOf = ({ createdAt, completedAt }: TreeNode): string =>
  completedAt === null ? '' : ` · ${span(Date.parse(completedAt) - Date.parse(createdAt))}`

/** The agent's last event at the position, or its first event if it is born later. */
const placeOf = (then: AgentButtonProps['then']): string | null =>
  then === null ? null : then === 'unborn' ? '0' : String(then.revision)

function standing(then: AgentThen | 'unborn'): string {
  if (then === 'unborn') return 'not yet born here'
  const { status, code, paused, turn, step } = then
  const how = code === 'CANCELLED' ? 'cancelled' : code !== null ? `${status}, ${code}` : status
  const place = step === null ? `turn ${turn}` : `turn ${turn}, step ${step}`
  return `${how}${paused ? ', paused' : ''} · ${place}`
}
