import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import type { Row } from '../../engine/schema/tables.ts'

/** A call that several people may have to approve. `needed` null: one. */
interface Asked {
  readonly agentId: string
  readonly callId: string
  readonly needed: number | null
  readonly askedAt: string | null
  /** Who decided. An earlier approval of the same person has lapsed. */
  readonly decidedBy: string | null
}

export type Support = Row<'approval_supports'>

/** Adds the approvals before the last one to rows about calls. */
export async function withSupports<T>(
  db: Kysely<Database>,
  rows: readonly T[],
  askedIn: (row: T) => Asked,
): Promise<(T & { readonly supports: readonly Support[] })[]> {
  const calls = rows.map(askedIn).filter(({ needed }) => (needed ?? 1) > 1)
  const all =
    calls.length === 0
      ? []
      : await db
          .selectFrom('approval_supports')
          .selectAll()
          .where(
            'tool_call_id',
            'in',
            calls.map(({ callId }) => callId),
          )
          .orderBy('revision')
          .execute()
  return rows.map((row) => ({ ...row, supports: supportsOf(askedIn(row), all) }))
}

/** Everyone who approved a call as one of several people, as actors such as `approver:ann`, the latest approval first. */
export async function supportersOfCall(db: Kysely<Database>, toolCallId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('approval_supports')
    .select('by')
    .where('tool_call_id', '=', toolCallId)
    .groupBy('by')
    .orderBy(({ fn }) => fn.max('revision'), 'desc')
    .execute()
  return rows.map(({ by }) => by)
}

/** The approvals of the present question, in the order of the log. */
function supportsOf({ agentId, callId, askedAt, decidedBy }: Asked, all: readonly Support[]): readonly Support[] {
  const own = all.filter((one) => one.agent_id === agentId && one.tool_call_id === callId && one.at >= (askedAt ?? ''))
  return own.filter(({ question, by }) => question === own.at(-1)?.question && by !== decidedBy)
}
