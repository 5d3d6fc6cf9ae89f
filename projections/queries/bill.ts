import type { Kysely } from 'kysely'
import type { Database } from '../schema/database.ts'
import { NOTHING, plus, type UsageSum, usageBy } from './usage.ts'

export interface Bill {
  readonly runId: string
  /** By the model that was asked; `''` where the erased body took its name with it. */
  readonly models: readonly ({ readonly model: string } & UsageSum)[]
  readonly total: UsageSum
}

/** The cost of a run per model, for all its agents together. Money in nano-dollars. */
export async function billOf(db: Kysely<Database>, runId: string): Promise<Bill> {
  const byModel = await usageBy(db, 'model', [runId])
  const models = [...byModel]
    .map(([model, usage]) => ({ model, ...usage }))
    .sort((a, b) => (a.model < b.model ? -1 : 1))
  return { runId, models, total: models.reduce<UsageSum>(plus, NOTHING) }
}
