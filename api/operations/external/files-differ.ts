import { agentStream } from '../../../domain/log/ids.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import type { FilePoint, Services } from '../services.ts'

/**
 * The differences between two points of runs, in their files only, because external agents have no recorded state.
 * `revision`: the last revision of each.
 */
export async function filesDiffer(
  { log, files }: Pick<Services, 'log' | 'files'>,
  a: FilePoint,
  b: FilePoint,
  maxBytes: number,
) {
  const place = async ({ agentId }: FilePoint) => ({
    agentId,
    revision: (await log.head((await streamOfAgent(log, agentId)) ?? agentStream(agentId)))?.revision ?? 0,
  })
  return {
    a: await place(a),
    b: await place(b),
    state: [],
    messages: { common: 0, onlyA: [], onlyB: [] },
    files: await files.diff(a, b, maxBytes),
  }
}
