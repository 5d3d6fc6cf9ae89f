/** The filters of a run list. Page URLs and the API use the same names. */
export const FILTERS = [
  ...(['text', 'status', 'waiting', 'role', 'model', 'over', 'since', 'until'] as const),
  ...(['error', 'person', 'file', 'tag'] as const),
] as const
export type Filter = (typeof FILTERS)[number]
export type Filters = Readonly<Partial<Record<Filter, string>>>

/** The filters in a query. Ignores unknown and empty parameters. */
export function filtersIn(query: URLSearchParams): Filters {
  return Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : [])))
}

/** Puts the runs that wait for a person first, without duplicates. */
export function peopleFirst<T extends { readonly runId: string }>(waiting: readonly T[], all: readonly T[]): T[] {
  const first = new Set(waiting.map((run) => run.runId))
  return [...waiting, ...all.filter((run) => !first.has(run.runId))]
}

/**
 * Puts a fresh page before the known runs that follow it. Returns only the page if none of its runs is known. A run at
 * its end may be new: one that a filter lets through since.
 */
export function prependPage<T extends { readonly runId: string }>(
  fresh: readonly T[],
  known: readonly T[],
): readonly T[] {
  const places = new Map(known.map(({ runId }, place) => [runId, place]))
  const last = fresh.findLast(({ runId }) => places.has(runId))
  if (last === undefined) return fresh
  return [...fresh, ...known.slice(places.get(last.runId)! + 1)]
}

/** The most urgent reason why a run waits for a person. Null: none. */
export const askOf = (waiting: readonly { readonly for: string }[]): string | null =>
  waiting.find((one) => one.for === 'approval' || one.for === 'doubt' || one.for === 'input')?.for ?? null

/** The run id after a keyboard move. Clamped to the list. */
export function moveSelection(ids: readonly string[], selected: string | null, by: number): string | null {
  if (ids.length === 0) return null
  const at = selected === null ? -1 : ids.indexOf(selected)
  return ids[Math.min(ids.length - 1, Math.max(0, at + by))] ?? null
}
