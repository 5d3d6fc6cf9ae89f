import type { RebuiltRequest } from '../../../domain/agent/runtime/history/rebuild-request.ts'
import { Problem } from '../problem.ts'
import { mustGovern } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import type { SentRequest, SentRequests } from './request-schemas.ts'

/** The model requests of a turn in the provider's wire form. Rejects with `RUN_UNGOVERNED`, `WIRE_UNKNOWN`. */
export async function sentRequests(s: Services, runId: string, agentId: string, turn: number): Promise<SentRequests> {
  await mustGovern(s, agentId, 'to rebuild what its model was asked')
  const shown = wireView(s)
  const found = await s.runtime.requests(agentId, turn)
  const requests = found.map((one) => {
    const { messages, tools } = one.request
    return {
      ...shown(one),
      messages,
      tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    }
  })
  return { runId, agentId, turn, requests }
}

/** Shows requests in the provider's wire form. Throws `WIRE_UNKNOWN`. */
export function wireView({ wire }: Pick<Services, 'wire'>) {
  if (wire === null)
    throw new Problem('WIRE_UNKNOWN', 'this program brought its own models; it cannot tell their wire form')
  return ({ attempt, revision, request, recorded }: RebuiltRequest): SentRequest => ({
    attempt,
    revision,
    model: request.model,
    system: request.system,
    ...wire(request),
    checked: { inputs: recorded.inputs },
  })
}
