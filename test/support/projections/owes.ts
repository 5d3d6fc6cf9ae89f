import type { Actor } from './story.ts'

/** The agent's owed effects by the story, computed without tables. */
export function owes(actor: Actor, paused: boolean, row: Record<string, unknown>): boolean {
  if (actor.inTurn === 'model') return true
  const open = actor.calls.filter((call) => call.status !== 'ended')
  if (actor.inTurn === 'tools') {
    if (open.some((call) => call.status === 'asked')) return true
    if (open.length === 0 || open.some((call) => call.status === 'running')) return !paused
    // A call in doubt keeps its place; without one nothing starts.
    const places =
      Number(row.places ?? Number.POSITIVE_INFINITY) - open.filter((call) => call.status === 'unknown').length
    return !paused && places > 0 && open.some((call) => call.status === 'planned')
  }
  return actor.turn > 0 && row.asked_at === null && !paused
}
