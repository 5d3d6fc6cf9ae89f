/** What a list of runs can be narrowed by, as the address of the page and the API name it. */
export const FILTERS = ['text', 'status', 'waiting', 'role', 'model', 'over', 'since', 'until'] as const
export type Filter = (typeof FILTERS)[number]
export type Filters = Readonly<Partial<Record<Filter, string>>>

/** The filters in an address; unknown and empty members are passed over. */
export function filtersIn(query: URLSearchParams): Filters {
  return Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : [])))
}

/** A list of runs, of which those that wait for a person come first and stand there only. */
export function peopleFirst<T extends { readonly runId: string }>(waiting: readonly T[], all: readonly T[]): T[] {
  const first = new Set(waiting.map((run) => run.runId))
  return [...waiting, ...all.filter((run) => !first.has(run.runId))]
}

/**
 * A list that begins with a fresh page and goes on with the runs that were known after it; none where the page shares no end
 * with what was known.
 */
export function grown<T extends { readonly runId: string }>(fresh: readonly T[], known: readonly T[]): readonly T[] {
  const last = fresh.at(-1)?.runId
  const at = last === undefined ? -1 : known.findIndex((run) => run.runId === last)
  return at < 0 ? fresh : [...fresh, ...known.slice(at + 1)]
}

/** Whether a run waits for a person, and for what: the most urgent. */
export const askOf = (waiting: readonly { readonly for: string }[]): string | null =>
  waiting.find((one) => one.for === 'approval' || one.for === 'doubt' || one.for === 'input')?.for ?? null

/** The place of a run after a step of the keyboard; it stays within the list. */
export function moved(ids: readonly string[], selected: string | null, by: number): string | null {
  if (ids.length === 0) return null
  const at = selected === null ? -1 : ids.indexOf(selected)
  return ids[Math.min(ids.length - 1, Math.max(0, at + by))] ?? null
}
