import fc from 'fast-check'
import type { AgentEvent } from '../../../domain/agent/events/events.ts'
import type { AgentState } from '../../../domain/agent/state/state.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import { Agents, type Book, type Model } from './agents.ts'
import { modelOf, type Plan } from './plans.ts'

/** One move of a schedule: an agent or a pair of streams, and the action. */
export interface Move {
  readonly does: 'drive' | 'drive' | 'drive' | 'next' | 'next' | 'again' | 'skips' | 'forgets' | 'claim' | 'late'
  readonly pick: number
  readonly detail: number
}

const quiet = ['drive', 'drive', 'drive', 'drive', 'next', 'next', 'again', 'skips', 'forgets'] as const
const rough = [...quiet, ...quiet, 'claim', 'late'] as const
const moves = (kinds: readonly Move['does'][]) =>
  fc.array(fc.record({ does: fc.constantFrom(...kinds), pick: fc.nat(999), detail: fc.nat(99) }), {
    minLength: 10,
    maxLength: 150,
    size: 'max',
  })

/** Work and deliveries in any order, repeated and too early, with couriers that die. */
export const schedules = moves(quiet)
/** Also with drivers that die. Their running work is lost, or its outcome arrives late. */
export const roughSchedules = moves(rough)

export const ROOT = 'root'

/** Plays a schedule, then all remaining work. `at`: requests of people, by the number of the next move. */
export function play(
  plan: Plan,
  spec: AgentSpec,
  schedule: readonly Move[],
  see?: (agents: Agents, event: AgentEvent, after: AgentState) => void,
  at: Readonly<Record<number, (agents: Agents) => void>> = {},
  book?: Book,
): Agents {
  return playWith(modelOf(plan), spec, schedule, see, at, book)
}

/** Like {@link play}, with any model. */
export function playWith(
  model: Model,
  spec: AgentSpec,
  schedule: readonly Move[],
  see?: (agents: Agents, event: AgentEvent, after: AgentState) => void,
  at: Readonly<Record<number, (agents: Agents) => void>> = {},
  book?: Book,
): Agents {
  const agents = new Agents(model, see, book)
  agents.submit(ROOT, { kind: 'start', spec, task: 'do it' })
  schedule.forEach((move, n) => {
    at[n]?.(agents)
    make(agents, move)
  })
  agents.settle()
  for (const { agentId, command, driver } of agents.late.splice(0)) agents.submit(agentId, command, driver)
  agents.settle()
  return agents
}

/** An agent loses its driver at most this often, because a turn is given up after many lost drivers. */
const MAX_CLAIMS = 3

function make(agents: Agents, { does, pick, detail }: Move): void {
  const ids = [...agents.streams.keys()]
  const id = ids[pick % ids.length]!
  const { driver } = agents.of(id).state
  if (does === 'drive') agents.drive(id, detail)
  else if (does === 'claim') {
    if (driver !== null && driver.epoch < MAX_CLAIMS) agents.claim(id)
  } else if (does === 'late') {
    const late = agents.late.splice(pick % Math.max(1, agents.late.length), 1)[0]
    if (late !== undefined) agents.submit(late.agentId, late.command, late.driver)
  } else {
    const pairs = does === 'again' ? agents.everOwed() : agents.pairs()
    const pair = pairs[pick % Math.max(1, pairs.length)]
    if (pair !== undefined) agents.deliver(pair.source, pair.target, does)
  }
}
