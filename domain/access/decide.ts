import type { z } from 'zod'
import { withRules } from '../calls/approvers.ts'
import type { ApproverRule } from '../calls/policy-schema.ts'
import { canonicalText } from '../log/canonical.ts'
import type { StreamContext } from '../stream/aggregate.ts'
import type { Emit } from '../stream/emitter.ts'
import { StreamError } from '../stream/errors.ts'
import { entry } from '../stream/table.ts'
import type { accessBodies, Subject } from './events.ts'
import { decideKeeping, isKeepingCommand, type KeepingCommand } from './keeping.ts'
import { RIGHTS, ROLE_TABLE, ROLE_TABLE_VERSION, ROLES, type Role } from './rights.ts'
import {
  type AccessState,
  type Claim,
  currentPrincipal,
  isNewClaim,
  linksOf,
  principalOfSubject,
  RECOVERY,
} from './state.ts'

/** A key to record. `hash`: hex SHA-256 of its secret. `expiresAt`: ISO 8601. */
export interface NewKey {
  readonly key: string
  readonly hash: string
  readonly rights: readonly string[] | null
  readonly expiresAt: string | null
}

export interface NewPrincipal {
  readonly principal: string
  readonly kind: 'person' | 'service'
  readonly name: string
  readonly subject?: z.infer<typeof Subject> | undefined
}

/** A login of an issuer's subject. */
export interface Login {
  readonly subject: z.infer<typeof Subject>
  readonly claim: Claim
  readonly kind: 'person' | 'service'
  readonly name: string
  /** Ids for a new principal. It gets the first free one. */
  readonly ids: readonly string[]
}

type Signed = z.infer<(typeof accessBodies)['signed_in']>

/** The most rules about approvers. */
export const MAX_APPROVER_RULES = 100

/** The most addresses that are recorded for one key. */
export const MAX_ADDRESSES = 100

export interface Read {
  readonly principal: string
  readonly operation: string
  readonly run: string | null
  readonly count: number
}

export type AccessCommand =
  | KeepingCommand
  /** Begins access with its first admin and the admin's first key. */
  | { readonly kind: 'begin'; readonly admin: NewPrincipal; readonly key: NewKey }
  /** Records the rights of the roles in this program if the log has others, of an older program. */
  | { readonly kind: 'define_roles' }
  | ({ readonly kind: 'add'; readonly roles: readonly Role[] } & { readonly as: NewPrincipal })
  | { readonly kind: 'remove'; readonly principal: string; readonly reason: string | null }
  | { readonly kind: 'grant'; readonly principal: string; readonly role: Role }
  | { readonly kind: 'take'; readonly principal: string; readonly role: Role }
  /** Two ids belong to one person, or no longer do. Removed principals can be linked: facts still name them. */
  | {
      readonly kind: 'link' | 'unlink'
      readonly principal: string
      readonly other: string
      readonly reason?: string | undefined
    }
  | { readonly kind: 'create_key'; readonly principal: string; readonly key: NewKey }
  | { readonly kind: 'revoke_key'; readonly key: string; readonly reason: string | null }
  /** Records a new principal and new claims. Records nothing for a subject without a role. */
  | { readonly kind: 'log_in'; readonly login: Login }
  | {
      readonly kind: 'set_rules'
      readonly separation?: boolean | undefined
      readonly approvers?: readonly ApproverRule[] | undefined
      /** Rules to add to the present ones, so that two admins do not overwrite each other. */
      readonly addApprovers?: readonly ApproverRule[] | undefined
    }
  | {
      readonly kind: 'record_request'
      readonly principal: string
      readonly operation: string
      readonly target: string | null
    }
  | {
      readonly kind: 'record_uses'
      readonly reads: readonly Read[]
      readonly refused: readonly (Read & { readonly code: string })[]
      readonly failed: readonly z.infer<(typeof accessBodies)['login_failed']>[]
      readonly signedIn: readonly Signed[]
      readonly signedOut: readonly Signed[]
      /** Uses of keys from addresses that may be new. */
      readonly keyUses: readonly { readonly key: string; readonly address: string }[]
      /** The ids of keys that were used for the first time in a day. */
      readonly used: readonly string[]
    }

export function decideAccess(
  state: AccessState | null,
  command: AccessCommand,
  emit: Emit<typeof accessBodies>,
  { now }: Pick<StreamContext, 'now'>,
): void {
  if (command.kind === 'record_uses') return recordUses(state, command, emit, now)
  if (isKeepingCommand(command)) return decideKeeping(state, command, emit)
  if (command.kind === 'record_request') {
    const { principal, operation, target } = command
    return emit('operation_requested', { principal, operation, target })
  }
  if (command.kind === 'begin') {
    if (state?.begun) throw new StreamError('ACCESS_EXISTS', 'access was set up before; use a key of an admin')
    mustBeFree(state, command.admin.principal)
    emit('access_begun', ROLES_NOW)
    emit('principal_added', { ...command.admin })
    emit('role_granted', { principal: command.admin.principal, role: 'admin' })
    return emit('key_created', keyBody(command.admin.principal, command.key))
  }
  if (!state?.begun)
    throw new StreamError('ACCESS_OFF', 'access is not set up; begin with: keepup access init', { why: 'absent' })
  switch (command.kind) {
    case 'define_roles':
      if (state.rolesVersion < ROLE_TABLE_VERSION && canonicalText(ROLES_NOW.roles) !== canonicalText(state.roles))
        emit('roles_changed', ROLES_NOW)
      return
    case 'add': {
      const { as, roles } = command
      mustBeFree(state, as.principal)
      const known = as.subject && principalOfSubject(state, as.subject)
      if (known?.removed === false)
        throw new StreamError(
          'SUBJECT_EXISTS',
          `this subject of the issuer is ${known.id}; grant a role to that principal`,
        )
      emit('principal_added', { ...as })
      for (const role of roles) emit('role_granted', { principal: as.principal, role })
      return
    }
    case 'remove': {
      const { principal, reason } = command
      mustKeepAdmin(state, principal, mustExist(state, principal).roles)
      return emit('principal_removed', { principal, reason })
    }
    case 'grant': {
      const { principal, role } = command
      if (!mustExist(state, principal).roles.includes(role)) emit('role_granted', { principal, role })
      return
    }
    case 'take': {
      const { principal, role } = command
      if (!mustExist(state, principal).roles.includes(role)) return
      mustKeepAdmin(state, principal, [role])
      return emit('role_taken', { principal, role })
    }
    case 'link': {
      const { principal, other, reason } = command
      mustHaveExisted(state, principal)
      mustHaveExisted(state, other)
      if (principal === other)
        throw new StreamError('LINK_INVALID', `${principal} is one id; name another id of the same person`, {
          why: 'invalid',
        })
      if (!linksOf(state, principal).includes(other))
        emit('principals_linked', { principal, other, ...(reason !== undefined && { reason }) })
      return
    }
    case 'unlink': {
      const { principal, other, reason } = command
      if (linksOf(state, principal).includes(other))
        emit('principals_unlinked', { principal, other, ...(reason !== undefined && { reason }) })
      return
    }
    case 'create_key': {
      const { principal, key } = command
      mustExist(state, principal)
      const unknown = key.rights?.find((right) => !(RIGHTS as readonly string[]).includes(right))
      if (unknown !== undefined)
        throw new StreamError('RIGHT_UNKNOWN', `there is no right "${unknown}"; known are ${RIGHTS.join(', ')}`, {
          why: 'invalid',
        })
      return emit('key_created', keyBody(principal, key))
    }
    case 'revoke_key': {
      const key = entry(state.keys, command.key)
      if (key === undefined)
        throw new StreamError('KEY_UNKNOWN', `there is no key ${command.key}; list the keys to find it`, {
          why: 'absent',
        })
      if (!key.revoked) emit('key_revoked', { key: command.key, reason: command.reason })
      return
    }
    case 'log_in':
      return logIn(state, command.login, emit)
    case 'set_rules': {
      const { separation = state.separation, addApprovers = [] } = command
      const approvers = withRules(command.approvers ?? state.approvers, addApprovers)
      if (approvers.length > MAX_APPROVER_RULES)
        throw new StreamError(
          'TOO_MANY_RULES',
          `there can be ${MAX_APPROVER_RULES} rules about approvers; remove some`,
          {
            why: 'invalid',
          },
        )
      if (separation !== state.separation) emit('rules_changed', { separation })
      if (canonicalText(approvers) !== canonicalText(state.approvers))
        emit('approvers_changed', { approvers: [...approvers] })
      return
    }
  }
}

function logIn(state: AccessState, { subject, claim, kind, name, ids }: Login, emit: Emit<typeof accessBodies>): void {
  const known = principalOfSubject(state, subject)
  if (known?.removed || (known === undefined ? claim.roles.length === 0 : !isNewClaim(known, claim))) return
  const principal = known?.id ?? ids.find((id) => isFree(state, id))
  if (principal === undefined)
    throw new StreamError('PRINCIPAL_EXISTS', 'all ids for this person are taken; add the person with its subject')
  if (known === undefined) emit('principal_added', { principal, kind, name, subject })
  emit('roles_claimed', { principal, ...claim, roles: [...claim.roles] })
}

function recordUses(
  state: AccessState | null,
  { reads, refused, failed, signedIn, signedOut, keyUses, used }: Extract<AccessCommand, { kind: 'record_uses' }>,
  emit: Emit<typeof accessBodies>,
  now: number,
): void {
  for (const read of reads) emit('read_audited', { ...read })
  for (const one of refused) emit('request_refused', { ...one })
  for (const one of failed) emit('login_failed', one)
  for (const key of used) if (!wasUsedThatDay(state, key, now)) emit('key_used', { key })
  for (const one of signedIn) emit('signed_in', one)
  for (const one of signedOut) emit('signed_out', one)
  const known = new Map<string, (string | null)[]>()
  for (const { key, address } of keyUses) {
    const addresses = known.get(key) ?? [...((state && entry(state.addresses, key)) ?? [])]
    known.set(key, addresses)
    if (addresses.includes(address) || addresses.length >= MAX_ADDRESSES) continue
    addresses.push(address)
    emit('key_used_first_from', { key, address })
  }
}

/** Whether another process has recorded a use of the key on that day, in UTC. */
function wasUsedThatDay(state: AccessState | null, key: string, now: number): boolean {
  const at = state === null ? undefined : entry(state.used, key)
  return at !== undefined && dayOf(at) === dayOf(now)
}

/** The number of the day in UTC. `at`: ms since the epoch. */
export const dayOf = (at: number): number => Math.floor(at / 86_400_000)

const ROLES_NOW = {
  roles: Object.fromEntries(ROLES.map((role) => [role, [...ROLE_TABLE[role]]])) as Record<Role, string[]>,
  version: ROLE_TABLE_VERSION,
}

const keyBody = (principal: string, { key, hash, rights, expiresAt }: NewKey) => ({
  ...{ key, principal, hash, expiresAt },
  rights: rights === null ? null : [...rights],
})

/** Facts use these ids for the owner of the folder, for people without a name, and for keepup. */
const RESERVED: ReadonlySet<string> = new Set([RECOVERY, 'anonymous', 'system', 'keepup', 'access', 'retention'])

const isFree = (state: AccessState | null, id: string): boolean =>
  !RESERVED.has(id) && (state === null || entry(state.principals, id) === undefined)

function mustBeFree(state: AccessState | null, id: string): void {
  if (RESERVED.has(id))
    throw new StreamError('PRINCIPAL_EXISTS', `facts use the id ${id} for keepup itself; use another id`)
  if (!isFree(state, id))
    throw new StreamError('PRINCIPAL_EXISTS', `the principal ${id} exists or existed; use another id`)
}

function mustExist(state: AccessState, id: string) {
  const principal = currentPrincipal(state, id)
  if (principal !== undefined) return principal
  throw unknownPrincipal(id)
}

/** Facts name the owner of the data folder and removed principals too. */
function mustHaveExisted(state: AccessState, id: string): void {
  if (id !== RECOVERY && entry(state.principals, id) === undefined) throw unknownPrincipal(id)
}

const unknownPrincipal = (id: string) =>
  new StreamError('PRINCIPAL_UNKNOWN', `there is no principal ${id}; list the principals to find it`, {
    why: 'absent',
  })

/** Without an admin nobody could grant a role again. */
function mustKeepAdmin(state: AccessState, id: string, taken: readonly Role[]): void {
  if (taken.includes('admin') && state.admins === 1)
    throw new StreamError('LAST_ADMIN', `${id} is the only admin; grant the role to another principal first`)
}
