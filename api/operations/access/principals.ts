import type { AccessCommand, NewKey } from '../../../domain/access/decide.ts'
import { RIGHTS, type Right } from '../../../domain/access/rights.ts'
import {
  type AccessKey,
  type AccessState,
  currentPrincipal,
  idsOfPerson,
  isExpired,
  otherIdsOf,
  type Principal,
} from '../../../domain/access/state.ts'
import { entries } from '../../../domain/stream/table.ts'
import type { OperationCaller } from '../operation.ts'
import { Problem } from '../problem.ts'
import { untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { Services } from '../services.ts'
import { askerOf } from '../streams/record.ts'
import { newKey } from './key-text.ts'

/** Records a change of access. Every process uses it for its next request; on servers, within a second. */
export async function changeAccess(
  s: Services,
  command: AccessCommand,
  caller: OperationCaller,
  by: string | undefined,
): Promise<{ readonly revision: number; readonly recorded: boolean }> {
  mustWrite(s)
  const asker = await askerOf(s, caller, by, { access: command })
  const done = await s.access.change(command, asker, caller.options.expectedRevision)
  await untilShown(s)
  return done
}

/** A key to record, with its text. Throws INVALID_REQUEST for a time in the past. */
export function keyToRecord(
  s: Pick<Services, 'random' | 'clock'>,
  asked: { readonly rights?: readonly Right[] | undefined; readonly expiresAt?: string | undefined },
): { readonly text: string; readonly record: NewKey } {
  const until = asked.expiresAt === undefined ? null : Date.parse(asked.expiresAt)
  if (until !== null && until <= s.clock.now())
    throw new Problem('INVALID_REQUEST', 'expiresAt: this time is past; name a later one')
  const { id, text, hash } = newKey(s.random)
  const expiresAt = until === null ? null : new Date(until).toISOString()
  return { text, record: { key: id, hash, rights: asked.rights ?? null, expiresAt } }
}

/**
 * Rejects with FORBIDDEN if a key or role would give rights that the caller lacks, as with a restricted key, or has only
 * until the login ends.
 */
export function mustNotExceed({ options: { identity } }: OperationCaller, given: readonly string[]): void {
  const own = identity?.lasting ?? identity?.rights
  const excess = own && given.find((right) => !own.has(right as Right))
  if (excess !== undefined)
    throw new Problem(
      'FORBIDDEN',
      `you do not have the right ${excess} by a granted role, so you cannot give it to others`,
    )
}

/**
 * Rejects with NOT_YOUR_OWN if the caller has one of the ids: without the link their duties would end. The refusal is
 * recorded.
 */
export async function mustNotUnlinkOwn(
  s: Services,
  id: string,
  { options: { identity } }: OperationCaller,
): Promise<void> {
  const state = await s.access.state()
  if (identity === undefined || state === null || !idsOfPerson(state, id).has(identity.principal)) return
  const { principal } = identity
  s.uses.refused({ principal, operation: 'unlinkPrincipals', run: null, code: 'NOT_YOUR_OWN' })
  throw new Problem('NOT_YOUR_OWN', `${principal} is an id of this person, so another admin must unlink it`)
}

/** Principals in order of their ids. */
export function principalPage(state: AccessState | null, page: Page) {
  if (state === null) return { principals: [], next: null }
  const { items, next } = pageOf(entries(state.principals), page)
  return { principals: items.map((one) => principalView(state, one)), next }
}

/** Keys in order of their ids. `now`: in ms since the epoch. */
export function keyPage(
  state: AccessState | null,
  { principal, ...page }: Page & { principal?: string | undefined },
  now: number,
) {
  if (state === null) return { keys: [], next: null }
  const wanted = entries(state.keys).filter((key) => principal === undefined || key.principal === principal)
  const { items, next } = pageOf(wanted, page)
  return { keys: items.map((key) => keyView(state, key, now)), next }
}

/** The rights of a caller; all of them if access is off. */
export const rightsOf = ({ options: { identity } }: OperationCaller): readonly Right[] =>
  identity === undefined ? RIGHTS : RIGHTS.filter((right) => identity.rights.has(right))

const principalView = (state: AccessState, { subject, claimed, ...principal }: Principal) => ({
  ...principal,
  subject: subject ?? null,
  linked: otherIdsOf(state, principal.id),
  claimed: claimed.filter(({ roles }) => roles.length > 0),
})

function keyView(state: AccessState, key: AccessKey, now: number) {
  const { id, principal, rights, expiresAt } = key
  return { id, principal, rights, expiresAt, state: keyStateOf(state, key, now) }
}

/** Whether a key gives rights, and why not. `now`: in ms since the epoch. */
export function keyStateOf(
  state: AccessState,
  key: AccessKey,
  now: number,
): 'expired' | 'ownerless' | 'revoked' | 'valid' {
  if (key.revoked) return 'revoked'
  if (isExpired(key, now)) return 'expired'
  return currentPrincipal(state, key.principal) === undefined ? 'ownerless' : 'valid'
}

interface Page {
  readonly after?: string | undefined
  readonly limit: number
}

function pageOf<T extends { readonly id: string }>(all: readonly T[], { after = '', limit }: Page) {
  const sorted = all.filter(({ id }) => id > after).sort((a, b) => (a.id < b.id ? -1 : 1))
  const items = sorted.slice(0, limit)
  return { items, next: sorted.length > limit ? items.at(-1)!.id : null }
}
