import { agentStream } from '../../../log/ids.ts'
import { idOf } from '../../../log/owner.ts'
import type { At } from '../../../stream/point.ts'
import * as stream from '../../../stream/runtime/history.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import { agent } from '../../decide/aggregate.ts'
import type { AgentEvent } from '../../events/events.ts'
import { PointDetails } from '../../state/point-details.ts'
import type { AgentBrief, Writer } from '../types.ts'
import { type OutlineColumns, outlineOf } from './outline.ts'
import { agentStateAt } from './replay.ts'

/**
 * An agent at a point without its messages, at a cost that does not grow with the history. Reads only the events that
 * wrote context variables and those of the point's turn. Rejects like {@link agentStateAt}.
 */
export async function briefAt(ports: Parameters<typeof agentStateAt>[0], agentId: string, at: At): Promise<AgentBrief> {
  const reached = await agentStateAt(ports, agentId, at)
  const details = new PointDetails()
  const writers = new Map<string, Writer>()
  // A point of a fork may belong to its source.
  const owner = reached.state.agentId
  for (const place of await placesOf(ports, owner, reached.head.revision)) {
    for await (const page of stream.ownHistory<AgentEvent>(
      ports,
      agent,
      agentStream(place.agentId),
      place.from,
      place.to,
    )) {
      for (const { event, recorded } of page) {
        details.push(event, recorded.erased === true)
        const writer = { agentId: place.agentId, revision: event.revision }
        if (event.type === 'context_set') writers.set(event.body.key, writer)
        if (event.type === 'agent_started')
          for (const name of Object.keys(event.body.spec.contextVariables)) writers.set(name, writer)
      }
    }
  }
  return { ...reached, facts: details.facts, writers: Object.fromEntries(writers) }
}

interface Place {
  readonly agentId: string
  readonly from: number
  readonly to: number
}

/** The ranges of events that contain facts about a point, in order, inherited ones first. */
async function placesOf(stores: Stores, agentId: string, to: number): Promise<Place[]> {
  const outline = await outlineOf(stores.log, agentStream(agentId))
  const first = await stream.firstOf<AgentEvent>(stores, agent, agentStream(agentId))
  const inherited = first?.type === 'forked' ? await placesOf(stores, idOf(first.body.stream), first.body.revision) : []
  const turn = Math.max(0, outline.lastOf(['turn_start'], to))
  const places = [...(turn > 0 ? [{ from: 0, to: 0 }] : []), ...variables(outline, turn - 1), { from: turn, to }]
  return [...inherited, ...places.map((place) => ({ agentId, ...place }))]
}

/** The events that wrote variables up to a revision, each with the model's answer that contains its value. */
function variables(outline: OutlineColumns, to: number): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  let answer = -1
  for (let at = 1; at <= to; at++) {
    if (outline.types[at] === 'model_call_end') answer = at
    if (outline.types[at] !== 'context_set') continue
    if (answer > 0) found.push({ from: answer, to: answer })
    found.push({ from: at, to: at })
  }
  return found
}
