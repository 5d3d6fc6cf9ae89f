import type { AskView } from '../../operations/approvals/schemas.ts'

export const askKey = (ask: AskView): string => `${ask.for} ${ask.agentId} ${ask.toolCallId}`

/**
 * The questions of an open page in a stable order. A decided approval keeps its place, and new questions come last, so
 * no other question moves under the pointer.
 */
export function inPlace(before: readonly AskView[], open: readonly AskView[]): readonly AskView[] {
  const now = new Map(open.map((ask) => [askKey(ask), ask]))
  const had = new Set(before.map(askKey))
  return [
    ...before.flatMap((ask) => now.get(askKey(ask)) ?? (ask.for === 'approval' ? [ask] : [])),
    ...open.filter((ask) => !had.has(askKey(ask))),
  ]
}
