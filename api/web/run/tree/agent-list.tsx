import { useState } from 'preact/hooks'
import type { TreeAt } from '../../../operations/history/tree-at-schemas.ts'
import { countText, short } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import type { TreeNode } from '../run-model.ts'
import { AgentButton } from './agent-button.tsx'
import { unfolded } from './folds.ts'

/** The number of agents from which a tree has buttons that fold all of it. */
const MANY = 8

interface AgentListProps {
  readonly agents: readonly TreeNode[]
  readonly then: TreeAt | null
  readonly chosen: string
}

/** The agents of a run, each below its parent. A person can fold the agents below another one. */
export function AgentList({ agents, then, chosen }: AgentListProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const lines = unfolded(agents, folded)
  const toggle = (agentId: string) => {
    const next = new Set(folded)
    if (!next.delete(agentId)) next.add(agentId)
    setFolded(next)
  }
  const parents = () => new Set(agents.flatMap(({ parentId }) => parentId ?? []))
  return (
    <>
      {agents.length >= MANY && (
        <li class="quiet fold-all">
          {countText(agents.length, 'agent')}{' '}
          <button type="button" class="link" onClick={() => setFolded(folded.size > 0 ? new Set() : parents())}>
            {folded.size > 0 ? 'unfold all' : 'fold all'}
          </button>
        </li>
      )}
      {lines.map(({ node, below, isFolded }) => (
        <li key={node.agentId} style={{ paddingLeft: `${Math.max(0, node.depth) * 10}px` }}>
          {below > 0 ? (
            <button
              type="button"
              class="plain fold"
              aria-expanded={!isFolded}
              aria-label={`${countText(below, 'agent')} below ${shown(node.role ?? short(node.agentId))}`}
              onClick={() => toggle(node.agentId)}
            >
              {isFolded ? `▸${below}` : '▾'}
            </button>
          ) : (
            agents.length > 1 && <span class="fold" />
          )}
          <AgentButton
            node={node}
            then={then && (then.agents.find(({ agentId }) => agentId === node.agentId) ?? 'unborn')}
            chosen={node.agentId === chosen}
          />
        </li>
      ))}
    </>
  )
}
