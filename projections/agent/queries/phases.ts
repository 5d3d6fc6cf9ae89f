import { type Kysely, sql } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import { historySql } from '../../engine/schema/history-sql.ts'

/** The current phase of each agent of the given runs. A fork without its own phase change has its source's phase. */
export async function phasesOf(db: Kysely<Database>, runIds: readonly string[]): Promise<Map<string, string | null>> {
  if (runIds.length === 0) return new Map()
  const latest = sql.raw(`(${historySql('a.id', '9007199254740991')}
    select p.phase from h join phases p on p.agent_id = h.id and p.revision <= h.upto
    order by h.d, p.revision desc limit 1)`)
  const { rows } = await sql<{ id: string; phase: string | null }>`
    select a.id, ${latest} as phase from agents a where a.run_id in (${sql.join(runIds)})`.execute(db)
  return new Map(rows.map((row) => [row.id, row.phase]))
}
