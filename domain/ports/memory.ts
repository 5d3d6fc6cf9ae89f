import type { Place } from '../memory/fact.ts'

/** A fact as the index holds it. Times are ISO 8601. */
export interface FoundFact extends Place {
  readonly id: string
  readonly text: string
  readonly createdAt: string
  /** The author, as `kind:id`. */
  readonly createdBy: string
  readonly updatedAt: string
  /** The run that saved it; null: a person did. */
  readonly runId: string | null
}

/** The index of facts: it can be thrown away and made again from the log. */
export interface MemoryIndex {
  /**
   * Facts of these places that have all words of the query, the best first, then those that have some; without a word the
   * latest. Shows all that was recorded before the call. Rejects where the index cannot be caught up in time.
   */
  search(
    places: readonly Place[],
    query: string,
    limit: number,
  ): Promise<{ readonly facts: readonly FoundFact[]; readonly more: boolean }>
  /** How many facts a place holds; it may lag behind. */
  count(place: Place): Promise<number>
}
