import type { z } from 'zod'
import type { AgentAt } from '../../../domain/agent/runtime/types.ts'
import type { Json } from '../../../domain/log/json.ts'
import { filesDiffer } from '../external/files-differ.ts'
import { isUngoverned, mustGovern } from '../runs/run-of-agent.ts'
import type { FilePoint, Services } from '../services.ts'
import { afterCommon, differences } from './difference.ts'
import type { StatesQuery } from './difference-schemas.ts'
import { pointOf } from './point.ts'

const MAX_PATCH = 512 * 1024

/** The differences between two steps, of one run or of two. Other agents have only files in common with keepup's own. */
export async function compareStates(s: Services, runId: string, query: z.output<typeof StatesQuery>) {
  const [a, b] = [stepOf(runId, query.a), stepOf(runId, query.b)]
  const onlyFiles = query.only === 'files' || ((await isUngoverned(s, a.agentId)) && (await isUngoverned(s, b.agentId)))
  if (onlyFiles) return filesDiffer(s, a, b, MAX_PATCH)
  for (const { agentId } of [a, b]) await mustGovern(s, agentId, 'a comparison with an own agent')
  const [atA, atB] = await Promise.all([s.runtime.at(a.agentId, a.at), s.runtime.at(b.agentId, b.at)])
  return {
    a: { agentId: a.agentId, revision: atA.head.revision },
    b: { agentId: b.agentId, revision: atB.head.revision },
    state: differences(comparedOf(atA), comparedOf(atB)),
    messages: afterCommon<unknown>(atA.messages, atB.messages),
    files: await s.files.diff(a, b, MAX_PATCH),
  }
}

/** `text`: a step of the run, or `<agent>:<step>`. */
function stepOf(runId: string, text: string): FilePoint {
  const colon = text.lastIndexOf(':')
  return { agentId: colon < 0 ? runId : text.slice(0, colon), at: { step: Number(text.slice(colon + 1)) } }
}

/** The members to compare: messages are compared on their own, and the others left out differ in every event. */
function comparedOf(at: AgentAt): Json {
  const { id: _i, threadId: _t, agentId: _a, runId: _r, revision: _v, hash: _h, timestamp: _s, ...shown } = pointOf(at)
  const { messages: _, ...state } = shown.state
  return JSON.parse(JSON.stringify({ ...shown, state })) as Json
}
