import {
  type AccessState,
  allRolesOf,
  currentPrincipal,
  idsOfPerson,
  otherIdsOf,
  rightsOfRoles,
} from '../../../domain/access/state.ts'
import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { callsOf } from '../../../domain/agent/state/state.ts'
import { requestersOf, supportersOfCall } from '../../../projections/index.ts'
import { mustHave } from '../access/identity.ts'
import { Problem } from '../problem.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import type { Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'

/** Commands that let a call run, or say what became of it. */
const DECIDING: ReadonlySet<UserCommand['kind']> = new Set<UserCommand['kind']>([
  ...(['decide_approval', 'resolve_doubt', 'standing_approval'] as const),
])

const refusal = (principal: string, why: string): Problem =>
  new Problem('NOT_YOUR_OWN', `${principal} ${why}, so another approver must decide (separation of duties)`)

/**
 * Rejects with NOT_YOUR_OWN if the principal, under any of its linked ids, asked for the run, gave it input or forked it,
 * and the rules of access separate duties. Admins are not exempt. The refusal is recorded.
 */
export async function mustBeSeparate(
  s: Services,
  runId: string,
  kind: UserCommand['kind'],
  { identity }: RequestOptions,
): Promise<void> {
  if (identity === undefined || !DECIDING.has(kind)) return
  const state = await s.access.state()
  if (state?.separation !== true) return
  const { principal } = identity
  await s.read.caughtUp()
  const { value: requesters } = await s.read.rows((db) => requestersOf(db, runId))
  const requester = [...idsOfPerson(state, principal)].find((id) => requesters.has(`user:${id}`))
  if (requester === undefined) return
  s.uses.refused({ principal, operation: kind, run: runId, code: 'NOT_YOUR_OWN' })
  const who = requester === principal ? principal : `${principal}, who is also ${requester},`
  throw refusal(who, 'asked for this run, gave it input or forked it')
}

/** Whether the command lets a call run, for the first time or again. */
const letsRun = (command: UserCommand): command is Extract<UserCommand, { toolCallId: string; decision: string }> =>
  (command.kind === 'decide_approval' && command.decision === 'approved') ||
  (command.kind === 'resolve_doubt' && command.decision === 'run')

/**
 * Adds to an approval the other ids of its principal, and those who approved before and do not count any more: they are no
 * people with the right to decide now, or approved later under a linked id.
 */
export async function withApproversNow(
  s: Services,
  command: UserCommand,
  { identity }: RequestOptions,
): Promise<UserCommand> {
  if (!letsRun(command)) return command
  const state = await s.access.state()
  if (state === null) return command
  await s.read.caughtUp()
  const { value: supporters } = await s.read.rows((db) => supportersOfCall(db, command.toolCallId))
  const counted = new Set<string>()
  const lapsed: string[] = []
  for (const id of supporters.map((by) => by.replace(/^\w+:/, ''))) {
    if (counted.has(id) || !mayDecide(state, id)) lapsed.push(id)
    else for (const own of idsOfPerson(state, id)) counted.add(own)
  }
  const otherIds = identity === undefined ? [] : [...otherIdsOf(state, identity.principal)]
  return { ...command, ...(lapsed.length > 0 && { lapsed }), ...(otherIds.length > 0 && { otherIds }) }
}

/** Whether the principal is a person with the right to decide. */
function mayDecide(state: AccessState, id: string): boolean {
  const principal = currentPrincipal(state, id)
  return principal?.kind === 'person' && rightsOfRoles(state, allRolesOf(principal)).has('runs.decide')
}

/**
 * What the answer to an approval says besides: how many more people must approve, and whose earlier approvals do not
 * count. Call it after the command is recorded.
 */
export async function approvalNote(
  s: Services,
  agentId: string,
  command: UserCommand,
): Promise<Pick<Recorded, 'missing' | 'note'>> {
  if (!letsRun(command)) return {}
  const { lapsed = [], toolCallId } = command
  const gone = `earlier approvals of people who may not decide any more, or approved again under a linked id, do not count: ${lapsed.join(', ')}`
  const notes = lapsed.length === 0 ? [] : [gone]
  const needed = (await s.read.approval(toolCallId)).value?.needed ?? 1
  const supporters = needed === 1 ? null : await supportersNow(s, agentId, toolCallId)
  if (supporters === null) return notes.length === 0 ? {} : { note: gone }
  const count = supporters.filter((id) => !lapsed.includes(id)).length
  const missing = needed - count
  const more = missing === 1 ? 'one more is needed' : `${missing} more are needed`
  return { missing, note: [`${count} of ${needed} people approved; ${more}`, ...notes].join('; ') }
}

/** The ids of those who approved the open question about a call so far. Null: the call waits for no further approval. */
async function supportersNow(s: Services, agentId: string, toolCallId: string): Promise<readonly string[] | null> {
  const { state } = await s.runtime.at(agentId, null)
  const stage = callsOf(state).find(({ id }) => id === toolCallId)?.stage
  if (stage?.at !== 'approval' && stage?.at !== 'doubt') return null
  return (stage.supporters ?? []).map(({ by }) => by)
}

/**
 * Rejects with FORBIDDEN if several people must approve the call, and the principal is a service or the owner of the data
 * folder, who may be one of these people.
 */
export async function mustBePerson(s: Services, command: UserCommand, { identity }: RequestOptions): Promise<void> {
  if (identity === undefined || !letsRun(command)) return
  await s.read.caughtUp()
  const { value } = await s.read.approval(command.toolCallId)
  if ((value?.needed ?? 1) === 1) return
  const { principal } = identity
  const state = await s.access.state()
  if (state !== null && currentPrincipal(state, principal)?.kind === 'person') return
  s.uses.refused({ principal, operation: command.kind, run: value?.runId ?? null, code: 'FORBIDDEN' })
  throw new Problem(
    'FORBIDDEN',
    `several people must approve this call, and ${principal} is not the id of a person; approve with the key of a person`,
  )
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
