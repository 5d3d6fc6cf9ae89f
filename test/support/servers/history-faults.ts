/** A line of a history: an append begins, or its caller learns what became of it. `unknown`: it may be in the log. */
export type HistoryLine =
  | {
      readonly is: 'invoke'
      readonly id: string
      readonly stream: string
      readonly expected: number
      readonly events: readonly string[]
    }
  | { readonly is: 'ok' | 'fail' | 'unknown'; readonly id: string; readonly code?: string }

/** An event in the log. */
export interface StoredEvent {
  readonly id: string
  readonly revision: number
}

/**
 * The faults of a log after a history of appends. Each stream is a register whose value is its revision, so sorting on
 * the revision replaces a search for an order. An acknowledged append is at its revision, a refused one is nowhere, one
 * without an answer is whole or nowhere, and revisions have no gap and no double.
 */
export function faultsOfHistory(
  history: readonly HistoryLine[],
  log: ReadonlyMap<string, readonly StoredEvent[]>,
): string[] {
  const faults: string[] = []
  const outcomes = new Map<string, string>()
  for (const line of history) if (line.is !== 'invoke') outcomes.set(line.id, line.is)
  const places = new Map<string, string[]>()
  for (const [stream, events] of log)
    for (const [n, { id, revision }] of events.entries()) {
      if (revision !== n) faults.push(`${stream} has revision ${revision} where ${n} belongs`)
      places.set(id, [...(places.get(id) ?? []), `${stream}@${revision}`])
    }
  for (const [id, found] of places) if (found.length > 1) faults.push(`event ${id} is at ${found.join(' and ')}`)
  const invoked = new Set<string>()
  for (const line of history) {
    if (line.is !== 'invoke') continue
    const { stream, expected, events } = line
    for (const id of events) invoked.add(id)
    const outcome = outcomes.get(line.id) ?? 'unknown'
    const at = events.map((id, n) => log.get(stream)?.[expected + 1 + n]?.id === id)
    const what = `the ${outcome} append of ${events.length} events to ${stream} at ${expected}`
    if (outcome === 'ok' && !at.every(Boolean)) faults.push(`${what} is lost`)
    if (outcome === 'unknown' && at.some(Boolean) && !at.every(Boolean)) faults.push(`${what} is there in part`)
    if (outcome === 'fail' && at.some(Boolean)) faults.push(`${what} is in the log`)
  }
  for (const [id, found] of places) if (!invoked.has(id)) faults.push(`event ${id} at ${found} was appended by nobody`)
  return faults
}
