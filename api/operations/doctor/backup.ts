import type { Services } from '../services.ts'
import { type Finding, ok } from './finding.ts'

/** The last backup that a person requested. Empty if none is recorded, as in a log without access. */
export async function checkBackup({ read }: Services): Promise<Finding[]> {
  const { value } = await read.rows((db) =>
    db
      .selectFrom('access_uses')
      .select(['recorded_at', 'principal', 'reason'])
      .where('type', '=', 'operation_requested')
      .where('operation', '=', 'backUp')
      .orderBy('revision', 'desc')
      .limit(1)
      .execute(),
  )
  return value.map(({ recorded_at, principal, reason }) =>
    ok('backup', `last requested ${recorded_at} by ${principal}, into ${reason}; "keepup drill FOLDER" tries it`),
  )
}
