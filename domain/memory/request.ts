import type { MemoryScope, Place } from './fact.ts'

/** A memory request of an agent's call. `places`: the places that the agent may access. */
export type MemoryRequest =
  | ({ readonly kind: 'remember'; readonly text: string } & Place)
  | { readonly kind: 'recall'; readonly places: readonly Place[]; readonly query: string; readonly limit: number }
  | { readonly kind: 'forget'; readonly id: string; readonly places: readonly Place[] }

/** The requesting agent: its run, and the real path of its workspace. */
export interface Reach {
  readonly runId: string
  readonly workspace: string | null
}

/** The place of a scope for an agent; null: its run has no workspace. */
export function placeIn({ runId, workspace }: Reach, scope: MemoryScope): Place | null {
  if (scope === 'global') return { scope, place: '' }
  const place = scope === 'run' ? runId : workspace
  return place === null ? null : { scope, place }
}
