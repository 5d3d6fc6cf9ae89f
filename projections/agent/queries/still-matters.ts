import { type RawBuilder, sql } from 'kysely'

/**
 * Whether the agent in a column still matters: false when its parent has continued without it. Answering such an agent
 * helps no run, and no process would use the answer.
 */
export const reached = (column: string): RawBuilder<boolean> => sql<boolean>`not exists (select 1 from children c
  where c.child_id = ${sql.ref(column)} and c.unreached = 1 and c.ended_revision is null)`
