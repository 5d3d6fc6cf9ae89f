import type { Kysely } from 'kysely'
import type { Database } from '../engine/schema/database.ts'
import type { Row } from '../engine/schema/tables.ts'

export interface AnchorsAndKey {
  /** The anchors in use, in order of names. */
  readonly anchors: readonly Row<'anchors'>[]
  /** The verifier key that signs the log now; null: none yet. */
  readonly vkey: string | null
}

export async function showAnchors(db: Kysely<Database>): Promise<AnchorsAndKey> {
  const anchors = await db.selectFrom('anchors').selectAll().where('removed_at', 'is', null).orderBy('anchor').execute()
  const current = await db.selectFrom('log_origins').select('vkey').orderBy('revision', 'desc').limit(1).execute()
  return { anchors, vkey: current[0]?.vkey ?? null }
}
