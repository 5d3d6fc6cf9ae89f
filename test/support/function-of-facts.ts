import { expect } from 'vitest'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import type { HealthFigures } from '../../domain/agent/routing/decision.ts'
import { route, routingFacts } from '../../domain/agent/routing/routing.ts'
import { evolveAgent } from '../../domain/agent/state/evolve.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'

/** Repeats each decision on the state before it, with the figures that the decision recorded. */
export function expectFunctionOfFacts(events: readonly AgentEvent[]): void {
  let state: AgentState | null = null
  let models = 0
  let last: string | null = null
  for (const event of events) {
    if (event.type === 'turn_start') last = null
    if (event.type === 'model_routed' && state !== null) {
      const { candidates = [], resolved } = event.body
      const figures = new Map<string, HealthFigures | undefined>(candidates.map((one) => [one.model, one.figures]))
      expect(route(routingFacts(state, 'turn', last, (id) => figures.get(id)))).toEqual(event.body)
      if (last !== null) expect(resolved).toBe(last)
      last = resolved
      models++
    }
    state = evolveAgent(state, event)
  }
  expect(models).toBeGreaterThan(0)
}
