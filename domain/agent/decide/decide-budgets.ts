import type { Amounts } from '../../tree/events.ts'
import { asksForTurn, type ChildAsks, isNothing, NO_AMOUNTS } from '../../tree/family.ts'
import { affordable, mayAsk, wantForTurn } from '../state/child-budget.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// Requests for budget go up the tree until an agent can answer them. The root answers with its free budget.

/**
 * Asks the parent for budget if the next turn does not fit. True: just asked; false: still waiting; null: no request is
 * possible, and the agent continues with its own budget.
 */
export function askForTurn(d: DecisionBuilder): boolean | null {
  if (asksForTurn(d.state)) return false
  const want = wantForTurn(d.state)
  if (d.state.family.refused || !mayAsk(d.state) || isNothing(want)) return null
  d.emit('budget_requested', { want })
  return true
}

export function answerChildren(d: DecisionBuilder): void {
  for (const ask of d.state.family.asks) {
    if (isPassedOn(d, ask)) continue
    const { childId, request, want } = ask
    const grant = d.state.cancel === null ? affordable(d.state, want) : NO_AMOUNTS
    if (isNothing(grant) && mayAsk(d.state)) d.emit('budget_requested', { want, of: { childId, request } })
    else d.emit('budget_granted', { childId, request, grant })
  }
}

const isPassedOn = ({ state }: DecisionBuilder, { childId, request }: ChildAsks): boolean =>
  state.family.asked.some((one) => one.for === 'child' && one.childId === childId && one.childRequest === request)

/** Open requests of children that were passed on with these requests. */
export const passedOn = ({ state }: DecisionBuilder, requests: (request: number) => boolean): readonly ChildAsks[] =>
  state.family.asks.filter(({ childId, request }) =>
    state.family.asked.some(
      (one) => one.for === 'child' && one.childId === childId && one.childRequest === request && requests(one.request),
    ),
  )

/** Passes the parent's answer on to the children. If a child has ended, the agent keeps the amount. */
export function passOn(d: DecisionBuilder, asks: readonly ChildAsks[], grant: Amounts): void {
  for (const { childId, request } of asks) d.emit('budget_granted', { childId, request, grant })
}
