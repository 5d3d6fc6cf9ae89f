import { modelInfo, route, routingFacts } from '../../../domain/agent/routing/routing.ts'
import { estimateInput } from '../../../domain/agent/rules/own-budget.ts'
import { contextLimit } from '../../../domain/agent/window/compression-plan.ts'
import { isHidden, segmentsOf } from '../../../domain/agent/window/compression-state.ts'
import { requestFacts } from '../../../domain/agent/window/request.ts'
import type { Services } from '../services.ts'
import type { ContextView } from './schemas.ts'

/** The context of an agent at its head. Rejects with RUN_UNKNOWN. */
export async function contextView(s: Pick<Services, 'runtime'>, runId: string, agentId: string): Promise<ContextView> {
  const { state } = await s.runtime.at(agentId, null)
  const { spec, compression, messages } = state
  const info = modelInfo(state, route(routingFacts(state, 'turn')).resolved)
  const segments = segmentsOf(compression, messages.count)
  return {
    ...{ runId, agentId, revision: state.revision, messages: messages.count },
    tokens: estimateInput(state, requestFacts(state, info).bytes),
    limit: contextLimit(spec, info),
    threshold: spec.context.compressionThreshold,
    strategy: spec.context.compressionStrategy,
    segments: [...segments],
    summary: segments.some((one) => isHidden(one) && one.kind === 'summary')
      ? (compression.summary?.text ?? null)
      : null,
    knowledge: (compression.knowledge?.items ?? []).map(({ source, hash }) => ({ source, hash })),
  }
}
