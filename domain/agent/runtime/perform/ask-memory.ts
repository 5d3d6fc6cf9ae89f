import { ToolError } from '../../../calls/errors.ts'
import type { Json } from '../../../log/json.ts'
import type { MemoryRequest } from '../../../memory/request.ts'
import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import type { AgentState, Call } from '../../state/state.ts'

/** Sends a request to the memory. Refreshes the secrets first, to redact the answer. Rejects with ToolError. */
export async function askMemory(
  { memory }: Pick<RuntimePorts, 'memory'>,
  { secrets }: Pick<Environment, 'secrets'>,
  { runId, agentId, correlation }: AgentState,
  call: Call,
  stream: string,
  request: MemoryRequest,
): Promise<Json> {
  if (memory === undefined) throw new ToolError('RESOURCE_NOT_FOUND', 'this program has no memory for its agents')
  await secrets.refresh()
  return memory.perform(request, {
    ...{ runId, agentId, toolCallId: call.id, secrets },
    causationId: `${stream}@${call.since}`,
    ...(correlation === undefined ? {} : { correlationId: correlation }),
  })
}
