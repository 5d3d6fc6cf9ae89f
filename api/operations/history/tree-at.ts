import type { AgentAt } from '../../../domain/agent/runtime/types.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import type { PlaceOfAgent } from '../../../projections/index.ts'
import { notFound, Problem } from '../problem.ts'
import type { AgentRow } from '../read-model.ts'
import type { Services } from '../services.ts'
import type { AgentThen, TreeAt } from './tree-at-schemas.ts'

type Needed = Pick<Services, 'log' | 'read' | 'runtime'>

/**
 * The agents of a run at the time when an event of one of them was appended, in the order of the log. Agents without
 * later events come from the tables; the few others are folded. Rejects with 404 if the run or agent does not exist,
 * and with `POINT_UNKNOWN` if the agent has no such event.
 */
export async function runTreeAt(s: Needed, runId: string, agentId: string, revision: number): Promise<TreeAt> {
  const { value } = await s.read.tree(runId)
  if (value === null) throw notFound('run', runId)
  const nodes = new Map(value.agents.map((node) => [node.agentId, node]))
  if (!nodes.has(agentId)) throw notFound('agent', agentId)
  const places = await s.read.placesAt(runId, await positionOf(s, agentId, revision))
  const { value: heads } = await s.read.heads(runId)
  const agents = await Promise.all(
    places.map(async (place): Promise<AgentThen> => {
      const node = nodes.get(place.agentId)
      if (node !== undefined && heads.get(place.agentId) === place.revision) return asNow(place, node)
      if (node?.ungoverned === true) return asRunning(place)
      return asFolded(place, await s.runtime.stateAt(place.agentId, { revision: place.revision }))
    }),
  )
  return { runId, agentId, revision, agents }
}

async function positionOf({ log }: Needed, agentId: string, revision: number): Promise<number> {
  const stream = (await streamOfAgent(log, agentId)) ?? agentStream(agentId)
  for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false }))
    if (event !== undefined) return event.position
  throw new Problem('POINT_UNKNOWN', `${agentId} has no event ${revision}; look up its last one in its run`)
}

const asNow = ({ agentId, revision }: PlaceOfAgent, node: AgentRow): AgentThen => {
  const { turn, step, status, paused, code, ungoverned, machineState } = node
  const own = ungoverned ? { step: null, machineState: null } : { step, machineState }
  return { agentId, revision, turn, ...own, status, paused, code }
}

/** An external agent has only events, and its last one, which gives its end, is later than this point. */
const asRunning = ({ agentId, revision, turn }: PlaceOfAgent): AgentThen => ({
  ...{ agentId, revision, turn, step: null, status: 'active', machineState: null, paused: false, code: null },
})

const STATUS = { DONE: 'completed', ERROR: 'failed', RECOVERY: 'recovering' } as const

function asFolded({ agentId, revision }: PlaceOfAgent, { state }: Pick<AgentAt, 'state'>): AgentThen {
  const { machine, turn, step, paused } = state
  const status = machine.status in STATUS ? STATUS[machine.status as keyof typeof STATUS] : 'active'
  const code = machine.status === 'ERROR' ? machine.code : null
  return { agentId, revision, turn, step, status, machineState: machine.status, paused, code }
}
