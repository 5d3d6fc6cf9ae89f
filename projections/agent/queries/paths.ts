import { type Kysely, sql } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import { inheritedRole } from '../../engine/schema/views.ts'

/** One agent on the path from a run's root to another agent. */
export interface Ancestor {
  readonly agentId: string
  /** Null: no role. */
  readonly role: string | null
}

/** The path from its run's root to each of the given agents: the root first, the agent last. */
export async function agentPaths(
  db: Kysely<Database>,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Ancestor[]>> {
  const ids = [...new Set(agentIds)]
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ leaf: string; id: string; role: string }>`with recursive up(leaf, id, parent, below) as (
      select id, id, parent_agent_id, 0 from agents where id in (${sql.join(ids)})
      union all
      select up.leaf, a.id, a.parent_agent_id, up.below + 1 from up join agents a on a.id = up.parent)
    select up.leaf, a.id, coalesce(a.role, ${sql.raw(inheritedRole)}, '') as role
    from up join agents a on a.id = up.id order by up.leaf, up.below desc`.execute(db)
  const paths = Map.groupBy(rows, ({ leaf }) => leaf)
  return new Map(
    [...paths].map(([leaf, path]) => [leaf, path.map(({ id, role }) => ({ agentId: id, role: role || null }))]),
  )
}

export interface WithPaths<T> {
  readonly rows: readonly T[]
  readonly paths: ReadonlyMap<string, readonly Ancestor[]>
}

export const withPaths = async <T extends { agent_id: string }>(
  db: Kysely<Database>,
  rows: readonly T[],
): Promise<WithPaths<T>> => ({
  rows,
  paths: await agentPaths(
    db,
    rows.map(({ agent_id }) => agent_id),
  ),
})
