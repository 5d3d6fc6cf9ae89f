interface Node {
  readonly agentId: string
  readonly parentId: string | null
}

export interface Folded<N extends Node> {
  readonly node: N
  /** The number of agents below it, at all depths. */
  readonly below: number
  readonly isFolded: boolean
}

/** The agents that are not below a folded one. `agents`: each one followed by those below it. */
export function unfolded<N extends Node>(agents: readonly N[], folded: ReadonlySet<string>): Folded<N>[] {
  const below = new Map<string, number>()
  for (const { agentId, parentId } of agents.toReversed())
    if (parentId !== null) below.set(parentId, (below.get(parentId) ?? 0) + (below.get(agentId) ?? 0) + 1)
  const hidden = new Set<string>()
  return agents.flatMap((node) => {
    const { agentId, parentId } = node
    if (hidden.has(parentId ?? '') || folded.has(parentId ?? '')) {
      hidden.add(agentId)
      return []
    }
    return { node, below: below.get(agentId) ?? 0, isFolded: folded.has(agentId) }
  })
}
