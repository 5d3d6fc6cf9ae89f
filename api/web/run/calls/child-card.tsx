import { agentStatus } from '../../../cli/output/agent-status.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import { money } from '../../parts/format.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { type Arguments, objectMembers, textOrEmpty } from './call-text.ts'

interface ChildCardProps {
  readonly runId: string
  readonly tree: RunTree | null
  readonly input: Arguments
  readonly result: unknown
  /** The delegation. Absent: the child is not born yet. */
  readonly child: EventView | undefined
}

/** A delegated task: the child with its status and cost, its task, and its answer. */
export function ChildCard({ runId, tree, input, result, child }: ChildCardProps) {
  const childId = child?.type === 'child_delegated' ? child.payload?.childId : undefined
  const node = tree?.agents.find(({ agentId }) => agentId === childId)
  const summary = textOrEmpty(objectMembers(result).summary)
  return (
    <section class="child" aria-label="Child">
      <p>
        {childId === undefined ? (
          <bdi>{shown(textOrEmpty(input.role))}</bdi>
        ) : (
          <a href={`/runs/${runId}?agent=${childId}`}>
            <bdi>{shown(textOrEmpty(input.role))}</bdi>
          </a>
        )}{' '}
        {node !== undefined && (
          <span class="quiet">
            {agentStatus(node)} · turn {node.turn} · {money(node.total.nanoDollars)}
          </span>
        )}
      </p>
      <h3>Task</h3>
      <Markdown text={textOrEmpty(input.task)} />
      {summary !== '' && (
        <>
          <h3>Answer</h3>
          <Markdown text={summary} />
        </>
      )}
    </section>
  )
}
