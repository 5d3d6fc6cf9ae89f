// Requests of calls to the memory of facts (seed 001).

/** The runs that can use a fact: the run that saved it, all runs in its workspace, or all runs. */
export const SCOPES = ['run', 'workspace', 'global'] as const
export type MemoryScope = (typeof SCOPES)[number]

/** The owner of a fact. `place`: the run's id, the workspace's real path, or the empty text for `global`. */
export interface FactOwner {
  readonly scope: MemoryScope
  readonly place: string
}

/** The maximum size of one fact, in UTF-8 bytes. */
export const FACT_BYTES = 4_096
/** The maximum length of a query, in characters. */
export const QUERY_LENGTH = 1_000
/** The maximum and the default number of facts in a search result. */
export const MOST_FOUND = 50
export const FOUND = 10

/** The id of a fact: its scope, and 24 characters of lower-case base32. */
export const MEMORY_ID = /^(run|workspace|global)-[0-9a-hjkmnp-tv-z]{24}$/

/** A memory request of an agent's call. `places`: the places that the agent may access. */
export type MemoryRequest =
  | ({ readonly kind: 'remember'; readonly text: string } & FactOwner)
  | { readonly kind: 'recall'; readonly places: readonly FactOwner[]; readonly query: string; readonly limit: number }
  | { readonly kind: 'forget'; readonly id: string; readonly places: readonly FactOwner[] }

/** The requesting agent: its run, and the real path of its workspace. */
export interface Reach {
  readonly runId: string
  readonly workspace: string | null
}

/** The place of a scope for an agent; null: its run has no workspace. */
export function placeIn({ runId, workspace }: Reach, scope: MemoryScope): FactOwner | null {
  if (scope === 'global') return { scope, place: '' }
  const place = scope === 'run' ? runId : workspace
  return place === null ? null : { scope, place }
}
