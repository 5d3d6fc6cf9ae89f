import type { z } from 'zod'
import { formatCursor } from '../../../domain/log/cursor.ts'
import { checkedCursor } from '../events/filter.ts'
import { Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import type { PastState, SqlLimits, SqlResult } from './auditor.ts'
import { differenceOf } from './difference.ts'
import { MOST_ROWS, type SqlAnswer, type SqlQuestion } from './schemas.ts'

type Asked = z.output<typeof SqlQuestion>
type Sources = Pick<Services, 'read' | 'auditor' | 'log'>

/**
 * Answers an SQL question. `position`: the tables show at least this position; with `at`, exactly this one. Rejects as
 * {@link checkedCursor} and `SqlAuditor.ask` do. `signal`: aborts when the client leaves.
 */
export async function askSql(s: Sources, asked: Asked, signal?: AbortSignal): Promise<SqlAnswer> {
  const { sql, limit, timeoutMs, at } = asked
  const limits = { rows: limit, ms: timeoutMs, ...(signal && { signal }) }
  if (at === undefined) {
    const { position } = await s.read.status()
    return { position, ...(await s.auditor.ask(sql, limits)) }
  }
  const earlier = await stateAt(s, at, asked)
  if (asked.to === undefined) return { position: at, ...(await s.auditor.ask(sql, limits, earlier)) }
  const later = await stateAt(s, asked.to, asked)
  const [before, after] = [await whole(s, sql, limits, earlier), await whole(s, sql, limits, later)]
  return { position: asked.to, ...differenceOf(before, after, asked.key, limit) }
}

async function stateAt({ log }: Sources, at: string, { erased }: Asked): Promise<PastState> {
  // The schema refuses an empty cursor.
  const cursor = (await checkedCursor(log, at))!
  return { cursor, erased }
}

/** An answer without a missing row. Rejects with `SQL_LIMIT`. */
async function whole({ auditor }: Sources, sql: string, limits: SqlLimits, state: PastState): Promise<SqlResult> {
  const found = await auditor.ask(sql, { ...limits, rows: MOST_ROWS }, state)
  if (found.more)
    throw new Problem(
      'SQL_LIMIT',
      `at ${formatCursor(state.cursor)} the answer has more than ${MOST_ROWS} rows, or too many bytes, to be compared; ask for less`,
    )
  return found
}
