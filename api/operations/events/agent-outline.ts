import type { z } from 'zod'
import { firstAgentEvent } from '../../../domain/agent/runtime/history/history.ts'
import { outlineOf } from '../../../domain/agent/runtime/history/outline.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { idOf } from '../../../domain/log/owner.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import type { OutlineQuery, OutlineView } from '../history/outline-schemas.ts'
import { runOfAgent } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'

/** A part of the outline of an agent's stream. The tables must be caught up. Rejects with 404 for an unknown agent. */
export async function agentOutline(
  s: Services,
  agentId: string,
  { from = 0, limit }: z.output<typeof OutlineQuery>,
): Promise<OutlineView> {
  const { runId, stream } = await runAndStreamOf(s, agentId)
  const all = await outlineOf(s.log, stream)
  const part = <T>(column: readonly T[]) => column.slice(from, from + limit)
  const types = part(all.types)
  const names = [...new Set(types)]
  const place = new Map(names.map((name, i) => [name, i]))
  const columns = { turns: part(all.turns), times: part(all.times), calls: part(all.calls), sizes: part(all.sizes) }
  const inherited = await inheritedOf(s, agentId)
  const failed = (await s.read.failedCallEnds({ agentId, from, to: from + types.length })).value
  const about = { agentId, runId, from, length: all.length, inherited, names }
  return { ...about, types: types.map((type) => place.get(type)!), ...columns, failed }
}

/** The run and the stream of keepup's own agent or of another one. Rejects with 404 for an unknown agent. */
export async function runAndStreamOf(s: Services, agentId: string) {
  const runId = await runOfAgent(s, agentId)
  return { runId, stream: (await streamOfAgent(s.log, agentId)) ?? agentStream(agentId) }
}

/** The point of the source where a fork begins; null: the agent is no fork, or its first event cannot be read. */
async function inheritedOf(s: Services, agentId: string): Promise<OutlineView['inherited']> {
  const first = await firstAgentEvent(s, agentStream(agentId)).catch(() => null)
  if (first?.type !== 'forked') return null
  const { stream, revision, step } = first.body
  return { agentId: idOf(stream), revision, step }
}
