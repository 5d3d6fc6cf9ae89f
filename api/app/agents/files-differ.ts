import { externalStream } from '../../../domain/log/ids.ts'
import type { FilePoint, Services } from '../services.ts'

/** The differences between two points of runs of other agents: their files, since nothing else of them is known. */
export async function filesDiffer(
  { log, files }: Pick<Services, 'log' | 'files'>,
  a: FilePoint,
  b: FilePoint,
  maxBytes: number,
) {
  const place = async ({ agentId }: FilePoint) => ({
    agentId,
    revision: (await log.head(externalStream(agentId)))?.revision ?? 0,
  })
  const found = await files.diff(a, b, maxBytes)
  return {
    a: await place(a),
    b: await place(b),
    state: [],
    messages: { common: 0, onlyA: [], onlyB: [] },
    files: found && { changes: [...found.changes], patch: found.patch },
  }
}
