import type { Json } from '../../log/json.ts'
import type { Environment, RuntimePorts } from '../../ports/runtime.ts'
import type { Call } from '../call.ts'
import type { Caller } from '../caller.ts'
import { ToolError } from '../errors.ts'
import type { MemoryRequest } from '../memory/request.ts'

/** Sends a request to the memory. Refreshes the secrets first, to redact the answer. Rejects with ToolError. */
export async function askMemory(
  { memory }: Pick<RuntimePorts, 'memory'>,
  { secrets }: Pick<Environment, 'secrets'>,
  { runId, agentId, correlation }: Pick<Caller, 'runId' | 'agentId' | 'correlation'>,
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
