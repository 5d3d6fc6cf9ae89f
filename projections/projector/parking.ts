import { type Change, put, set } from '../changes/change.ts'
import { agentOfStream, cut, millis, parkedIdOf } from '../text.ts'
import { type Given, isDamaged } from './damage.ts'
import type { Poison } from './decode.ts'

/** The changes that park a stream. `expected`: the revision that was to come next; `runId`: the run that it is of. */
export function parking(given: Given, { code, message }: Poison, expected: number, runId: string): Change[] {
  const stream = isDamaged(given) ? given.stream : given.header.stream
  const of = isDamaged(given)
    ? { revision: given.revision ?? expected, type: given.type, version: 0, at: given.at }
    : { ...pickOf(given.header), at: given.header.timestamp }
  const where = { stream, run_id: runId, position: given.position, event_id: given.id, ...of }
  const id = parkedIdOf(stream)
  const parked = put('parked', { agent_id: id }, { ...where, code, message: cut(message, 1000) })
  if (agentOfStream(stream) === null) return [parked]
  return [
    parked,
    set('agents', { id }, { incomplete_from: of.revision }),
    put('due', { agent_id: id, cause: 'parked' }, { run_id: runId, wake_at: millis(of.at) ?? 0, reason: 'parked' }),
  ]
}

const pickOf = ({ revision, type, version }: { revision: number; type: string; version: number }) => ({
  revision,
  type,
  version,
})
