import type { Call } from '../../calls/call.ts'
import { asksForTurn } from '../../tree/family.ts'
import type { AgentEvent } from '../events/events.ts'
import { outageOf, waitsForLimit } from '../routing/outage-state.ts'
import { undecided } from './loss-rules.ts'
import { type AgentState, activityOf, isFinished, type WorkClock } from './state.ts'

const WAITING: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>([
  ...(['approval', 'doubt', 'child', 'budget'] as const),
])

/** Stages of calls that have not begun. While a child runs, such calls wait for its end. */
const UNBEGUN: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>([
  ...(['planned', 'approved', 'resolved'] as const),
])
const NONE: typeof UNBEGUN = new Set()
const ofAgents = ({ stage }: Call) => stage.at === 'child' || stage.at === 'budget'

/** Whether a driver works now, and the agent does not wait for people, a pause, other agents or its models. */
function works(state: AgentState): boolean {
  if (state.driver === null || state.paused || isFinished(state) || undecided(state).length > 0) return false
  const activity = activityOf(state.machine)
  if (activity === null || outageOf(state) !== null || waitsForLimit(state) || asksForTurn(state)) return false
  if (activity.status !== 'TOOL_WAIT') return true
  const open = activity.calls.filter((call) => call.stage.at !== 'ended')
  const held = open.some(ofAgents) ? UNBEGUN : NONE
  return open.length === 0 || open.some(({ stage }) => !WAITING.has(stage.at) && !held.has(stage.at))
}

/**
 * Counts the time up to an event. Only events of the current driver advance the clock, so that the time between a
 * driver's death and the next claim never counts.
 */
export function advanceClock(before: AgentState, after: AgentState, event: AgentEvent): WorkClock {
  const { clock } = after
  const running = works(after)
  if (event.type === 'driver_claimed') return { workedMs: clock.workedMs, countedTo: event.at, running }
  const counts = clock.running && event.driver !== undefined && event.driver.epoch === before.driver?.epoch
  const workedMs = counts ? clock.workedMs + Math.max(0, event.at - clock.countedTo) : clock.workedMs
  const countedTo = counts || (running && !clock.running) ? event.at : clock.countedTo
  if (workedMs === clock.workedMs && countedTo === clock.countedTo && running === clock.running) return clock
  return { workedMs, countedTo, running }
}

/** Work time up to `now`, ms. */
export function workedAt(clock: WorkClock, now: number): number {
  return clock.workedMs + (clock.running ? Math.max(0, now - clock.countedTo) : 0)
}
