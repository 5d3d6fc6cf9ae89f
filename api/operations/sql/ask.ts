import type { z } from 'zod'
import type { Services } from '../services.ts'
import type { SqlAnswer, SqlQuestion } from './schemas.ts'

/** Answers an SQL question. `position`: the tables show at least this position. */
export async function askSql(
  s: Pick<Services, 'read' | 'auditor'>,
  { sql, limit, timeoutMs }: z.output<typeof SqlQuestion>,
): Promise<SqlAnswer> {
  const { position } = await s.read.status()
  return { position, ...(await s.auditor.ask(sql, { rows: limit, ms: timeoutMs })) }
}
