import type { z } from 'zod'
import { canonicalText } from '../log/canonical.ts'
import type { Emit } from '../stream/emitter.ts'
import { StreamError } from '../stream/errors.ts'
import { entry } from '../stream/table.ts'
import type { accessBodies, Subject } from './events.ts'
import { RIGHTS, ROLE_TABLE, type Role } from './rights.ts'
import { type AccessState, currentPrincipal, RECOVERY } from './state.ts'

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

export interface Read {
  readonly principal: string
  readonly operation: string
  readonly run: string | null
  readonly count: number
}

export type AccessCommand =
  /** Begins access with its first admin and the admin's first key. */
  | { readonly kind: 'begin'; readonly admin: NewPrincipal; readonly key: NewKey }
  /** Records the rights of the roles in this program if the log has others. */
  | { readonly kind: 'define_roles' }
  | ({ readonly kind: 'add'; readonly roles: readonly Role[] } & { readonly as: NewPrincipal })
  | { readonly kind: 'remove'; readonly principal: string; readonly reason: string | null }
  | { readonly kind: 'grant'; readonly principal: string; readonly role: Role }
  | { readonly kind: 'take'; readonly principal: string; readonly role: Role }
  | { readonly kind: 'create_key'; readonly principal: string; readonly key: NewKey }
  | { readonly kind: 'revoke_key'; readonly key: string; readonly reason: string | null }
  | { readonly kind: 'set_rules'; readonly separation: boolean }
  | {
      readonly kind: 'record_uses'
      readonly reads: readonly Read[]
      readonly refused: readonly (Read & { readonly code: string })[]
      readonly failed: readonly z.infer<(typeof accessBodies)['login_failed']>[]
    }

export function decideAccess(state: AccessState | null, command: AccessCommand, emit: Emit<typeof accessBodies>): void {
  if (command.kind === 'record_uses') return recordUses(command, emit)
  if (command.kind === 'begin') {
    if (state?.begun) throw new StreamError('ACCESS_EXISTS', 'access was set up before; use a key of an admin')
    mustBeFree(state, command.admin.principal)
    emit('access_begun', { roles: rolesOf(ROLE_TABLE) })
    emit('principal_added', { ...command.admin })
    emit('role_granted', { principal: command.admin.principal, role: 'admin' })
    return emit('key_created', keyBody(command.admin.principal, command.key))
  }
  if (!state?.begun)
    throw new StreamError('ACCESS_OFF', 'access is not set up; begin with: keepup access init', { why: 'absent' })
  switch (command.kind) {
    case 'define_roles':
      if (canonicalText(rolesOf(ROLE_TABLE)) !== canonicalText(state.roles))
        emit('roles_changed', { roles: rolesOf(ROLE_TABLE) })
      return
    case 'add': {
      const { as, roles } = command
      mustBeFree(state, as.principal)
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
    case 'set_rules':
      if (command.separation !== state.separation) emit('rules_changed', { separation: command.separation })
      return
  }
}

function recordUses(
  { reads, refused, failed }: Extract<AccessCommand, { kind: 'record_uses' }>,
  emit: Emit<typeof accessBodies>,
): void {
  for (const read of reads) emit('read_audited', { ...read })
  for (const one of refused) emit('request_refused', { ...one })
  for (const one of failed) emit('login_failed', one)
}

const rolesOf = (table: typeof ROLE_TABLE) =>
  Object.fromEntries(Object.entries(table).map(([role, rights]) => [role, [...rights]])) as Record<Role, string[]>

const keyBody = (principal: string, { key, hash, rights, expiresAt }: NewKey) => ({
  ...{ key, principal, hash, expiresAt },
  rights: rights === null ? null : [...rights],
})

/** Ids that facts use for others. */
const RESERVED: ReadonlySet<string> = new Set([RECOVERY, 'anonymous'])

function mustBeFree(state: AccessState | null, id: string): void {
  if (RESERVED.has(id) || (state !== null && entry(state.principals, id) !== undefined))
    throw new StreamError('PRINCIPAL_EXISTS', `the principal ${id} exists or existed; use another id`)
}

function mustExist(state: AccessState, id: string) {
  const principal = currentPrincipal(state, id)
  if (principal !== undefined) return principal
  throw new StreamError('PRINCIPAL_UNKNOWN', `there is no principal ${id}; list the principals to find it`, {
    why: 'absent',
  })
}

/** Without an admin nobody could grant a role again. */
function mustKeepAdmin(state: AccessState, id: string, taken: readonly Role[]): void {
  if (taken.includes('admin') && state.admins === 1)
    throw new StreamError('LAST_ADMIN', `${id} is the only admin; grant the role to another principal first`)
}
