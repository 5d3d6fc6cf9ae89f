import { type RawBuilder, sql } from 'kysely'

/**
 * Whether anything reaches the agent that a column names: its parent has not gone on without it. What one that nothing reaches
 * waits for helps no run, and no process would take up the answer.
 */
export const reached = (column: string): RawBuilder<boolean> => sql<boolean>`not exists (select 1 from children c
  where c.child_id = ${sql.ref(column)} and c.unreached = 1 and c.ended_revision is null)`
