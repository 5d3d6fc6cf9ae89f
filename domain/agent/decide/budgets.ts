import type { Amounts } from '../events/tree.ts'
import { affordable, mayAsk, wantForTurn } from '../rules/tree-budget.ts'
import { asksForTurn, type ChildAsks, isNothing, NO_AMOUNTS } from '../state/family.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// Requests for budget go up the tree until an agent can answer them; the root answers with what it has.

/**
 * The budget has no room for the next turn: does the agent wait for its parent's answer? True: it has just asked; false: it
 * waits; null: it has to do with what it has.
 */
export function askForTurn(d: DecisionBuilder): boolean | null {
  if (asksForTurn(d.state)) return false
  const want = wantForTurn(d.state)
  if (d.state.family.refused || !mayAsk(d.state) || isNothing(want)) return null
  d.emit('budget_requested', { want })
  return true
}

/** Answers the requests of children, or passes them on. */
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

/** Requests of children that were passed on with these requests, as far as the children still wait. */
export const passedOn = ({ state }: DecisionBuilder, requests: (request: number) => boolean): readonly ChildAsks[] =>
  state.family.asks.filter(({ childId, request }) =>
    state.family.asked.some(
      (one) => one.for === 'child' && one.childId === childId && one.childRequest === request && requests(one.request),
    ),
  )

/** The parent's answer goes on to the child; of one that has ended meanwhile the agent keeps it. */
export function passOn(d: DecisionBuilder, asks: readonly ChildAsks[], grant: Amounts): void {
  for (const { childId, request } of asks) d.emit('budget_granted', { childId, request, grant })
}
