import { RIGHTS, type Right, ROLE_TABLE, ROLES } from '../../../domain/access/rights.ts'
import type { Identity, Unidentified } from '../../../domain/access/runtime/access-gate.ts'
import { type AccessState, RECOVERY } from '../../../domain/access/state.ts'
import { entry } from '../../../domain/stream/table.ts'
import { Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import { isSecretOf, parseKey } from './key-text.ts'

/** The holder of the install's token: the owner of the data folder. It has every right, and facts record it. */
export const recovery: Identity = { principal: RECOVERY, key: null, rights: new Set(RIGHTS) }

const WHY: Readonly<Record<Unidentified, string>> = {
  unknown: 'this key is not known here; check that it is complete',
  revoked: 'this key was revoked; ask an admin for another one',
  expired: 'this key has expired; ask an admin for another one',
  removed: 'the owner of this key was removed; ask an admin',
  no_role: 'there is no role for you here; an admin can grant one, or the issuer can add you to a group that has one',
}

/** The principal of a key. `address`: where the request came from; null: unknown. Throws UNAUTHORIZED if the key is not valid. */
export function identityOfKey(
  { access, uses }: Pick<Services, 'access' | 'uses'>,
  state: AccessState,
  text: string,
  address: string | null,
): Identity {
  const key = parseKey(text)
  const isKnown = key !== null && isSecretOf(key.secret, entry(state.keys, key.id)?.hash)
  const found = isKnown ? access.identifyKey(state, key.id) : 'unknown'
  if (typeof found !== 'string') {
    if (found.key !== null) uses.keyUsed(found.key, address)
    return found
  }
  uses.failed({ key: key === null || found === 'unknown' ? null : key.id, reason: found, address })
  throw new Problem('UNAUTHORIZED', WHY[found])
}

/**
 * The principal of a program with direct access to the data folder. Null: access is off. `key` absent: the owner of the
 * folder. Throws as {@link identityOfKey} does.
 */
export function localIdentity(
  s: Pick<Services, 'access' | 'uses'>,
  state: AccessState | null,
  key?: string,
): Identity | null {
  if (state === null) return null
  return key === undefined ? recovery : identityOfKey(s, state, key, null)
}

/** Reads with these rights are not audited: they show nothing about people or their work. */
const UNAUDITED: ReadonlySet<Right> = new Set(['self.use', 'system.read'])

/** Whether a request is recorded as a read. SQL reads with any method. */
export const isAuditedRead = (method: string, right: Right): boolean =>
  (['GET', 'HEAD'].includes(method) || right === 'tables.ask') && !UNAUDITED.has(right)

/** Throws FORBIDDEN if the principal does not have the right. */
export function mustHave(
  s: Pick<Services, 'uses'>,
  { principal, key, rights }: Identity,
  right: Right,
  asked: { readonly operation: string; readonly run: string | null },
): void {
  if (rights.has(right)) return
  s.uses.refused({ principal, ...asked, code: 'FORBIDDEN' })
  const roles = ROLES.filter((role) => ROLE_TABLE[role].includes(right)).join(', ')
  const limit = key === null ? '' : ', and this key may be limited to other rights'
  throw new Problem(
    'FORBIDDEN',
    `${principal} does not have the right ${right} here; roles with it: ${roles}; an admin can grant one${limit}`,
  )
}
