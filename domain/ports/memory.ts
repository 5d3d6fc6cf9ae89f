import type { FactOwner } from '../calls/memory/request.ts'

/** A fact in the index. Times are ISO 8601. */
export interface FoundFact extends FactOwner {
  readonly id: string
  readonly text: string
  readonly createdAt: string
  /** The author, as `kind:id`. */
  readonly createdBy: string
  readonly updatedAt: string
  /** The run that saved the fact; null: a person saved it. */
  readonly runId: string | null
}

/** The index of facts. It can be rebuilt from the log. */
export interface MemoryIndex {
  /**
   * Facts of these places, the best first: facts with all words of the query, then facts with some. Without words: the
   * latest facts. Includes everything that was recorded before the call. Rejects if the index cannot catch up in time.
   */
  search(
    places: readonly FactOwner[],
    query: string,
    limit: number,
  ): Promise<{ readonly facts: readonly FoundFact[]; readonly more: boolean }>
  /** The number of facts in a place, possibly outdated. */
  count(place: FactOwner): Promise<number>
}
