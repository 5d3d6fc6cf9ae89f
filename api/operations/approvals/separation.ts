import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { requestersOf } from '../../../projections/index.ts'
import { Problem } from '../problem.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import type { Services } from '../services.ts'

/** Commands that let a call run, or say what became of it. */
const DECIDING: ReadonlySet<UserCommand['kind']> = new Set<UserCommand['kind']>([
  ...(['decide_approval', 'resolve_doubt', 'standing_approval'] as const),
])

const refusal = (principal: string, why: string): Problem =>
  new Problem('NOT_YOUR_OWN', `${principal} ${why}, so another approver must decide (separation of duties)`)

/**
 * Rejects with NOT_YOUR_OWN if the principal asked for the run, gave it input or forked it, and the rules of access
 * separate duties. Admins are not exempt. The refusal is recorded.
 */
export async function mustBeSeparate(
  s: Services,
  runId: string,
  kind: UserCommand['kind'],
  { principal }: RequestOptions,
): Promise<void> {
  if (principal === undefined || !DECIDING.has(kind) || (await s.access.state())?.separation !== true) return
  await s.read.caughtUp()
  const { value: requesters } = await s.read.rows((db) => requestersOf(db, runId))
  if (!requesters.has(`user:${principal}`)) return
  s.uses.refused({ principal, operation: kind, run: runId, code: 'NOT_YOUR_OWN' })
  throw refusal(principal, 'asked for this run, gave it input or forked it')
}

/** Rejects a start whose requester approves calls of the run beforehand. Rejects as {@link mustBeSeparate} does. */
export async function mustNotApproveOwn(
  s: Services,
  { approve = [] }: { readonly approve?: readonly string[] | undefined },
  { principal }: RequestOptions,
): Promise<void> {
  if (principal === undefined || approve.length === 0 || (await s.access.state())?.separation !== true) return
  s.uses.refused({ principal, operation: 'startRun', run: null, code: 'NOT_YOUR_OWN' })
  throw refusal(principal, 'cannot approve calls of the run that they ask for')
}
