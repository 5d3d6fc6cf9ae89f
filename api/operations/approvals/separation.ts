import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { requestersOf } from '../../../projections/index.ts'
import { mustHave } from '../access/identity.ts'
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
  { identity }: RequestOptions,
): Promise<void> {
  if (identity === undefined || !DECIDING.has(kind) || (await s.access.state())?.separation !== true) return
  const { principal } = identity
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
  { identity }: RequestOptions,
): Promise<void> {
  if (identity === undefined || approve.length === 0 || (await s.access.state())?.separation !== true) return
  const { principal } = identity
  s.uses.refused({ principal, operation: 'startRun', run: null, code: 'NOT_YOUR_OWN' })
  throw refusal(principal, 'cannot approve calls of the run that they ask for')
}

/**
 * Rejects with FORBIDDEN a run without a sandbox, unless the principal may operate this keepup: its commands could read
 * the token of the data folder, and with it do everything.
 */
export function mustMayUnconfine(
  s: Pick<Services, 'uses'>,
  policy: { readonly sandboxed?: boolean | undefined } | undefined,
  { identity }: RequestOptions,
): void {
  if (policy?.sandboxed === false && identity !== undefined)
    mustHave(s, identity, 'system.operate', { operation: 'startRun', run: null })
}
