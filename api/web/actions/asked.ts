import type { AskView } from '../../operations/approvals/schemas.ts'

export const keyOf = (ask: AskView): string => `${ask.for} ${ask.agentId} ${ask.toolCallId}`

/**
 * All that is asked while a person looks, each at the place that it had: an approval that is decided stays, and what is new
 * stands at the end. So no other question slides under a hand that is about to answer.
 */
export function inPlace(before: readonly AskView[], open: readonly AskView[]): readonly AskView[] {
  const now = new Map(open.map((ask) => [keyOf(ask), ask]))
  const had = new Set(before.map(keyOf))
  return [
    ...before.flatMap((ask) => now.get(keyOf(ask)) ?? (ask.for === 'approval' ? [ask] : [])),
    ...open.filter((ask) => !had.has(keyOf(ask))),
  ]
}
