import { agentStream } from '../../../log/ids.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import type { AgentSpec } from '../../../tree/spec.ts'
import type { BodyOf } from '../../events/events.ts'
import { forkedSpec } from '../../state/evolve-fork.ts'
import { firstAgentEvent } from './history.ts'

/**
 * An agent's spec from the log: from the first event of its stream, and for a fork also from those of its sources.
 * `hash`: the body hash of the first event of its own stream. Null if there is no such agent. Rejects like reading its
 * history.
 */
export async function agentSpecOf(stores: Stores, agentId: string): Promise<{ spec: AgentSpec; hash: string } | null> {
  const forks: BodyOf<'forked'>[] = []
  let hash: string | null = null
  for (let stream = agentStream(agentId); ; ) {
    const first = await firstAgentEvent(stores, stream)
    hash ??= first?.bodyHash ?? null
    if (first?.type === 'agent_started' && hash !== null)
      return { spec: forks.reduceRight(forkedSpec, first.body.spec), hash }
    if (first?.type !== 'forked') return null
    forks.push(first.body)
    stream = first.body.stream
  }
}
