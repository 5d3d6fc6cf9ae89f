import type { z } from 'zod'
import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import { instantOf } from '../log/instant.ts'
import { appendRoot, EMPTY_ROOT, type Root } from '../log/root.ts'
import type { EventsOf } from '../stream/emitter.ts'
import { EMPTY, entry, type Table, withEntry } from '../stream/table.ts'
import type { accessBodies, Subject } from './events.ts'
import { type Right, ROLES, type Role } from './rights.ts'

/** The id of the owner of the data folder, who needs no key. No principal can be added with it. */
export const RECOVERY = 'recovery'

export interface Principal {
  readonly id: string
  readonly kind: 'person' | 'service'
  readonly name: string
  readonly subject?: z.infer<typeof Subject> | undefined
  /** Sorted as {@link ROLES}. */
  readonly roles: readonly Role[]
  readonly removed: boolean
}

export interface AccessKey {
  readonly id: string
  readonly principal: string
  /** Hex SHA-256 of the secret. */
  readonly hash: string
  /** Null: all rights of the principal. */
  readonly rights: readonly string[] | null
  /** ISO 8601; null: never. */
  readonly expiresAt: string | null
  readonly revoked: boolean
}

export interface AccessState {
  /** Whether access has begun. Always false in the stream of uses. */
  readonly begun: boolean
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>
  readonly principals: Table<Principal>
  readonly keys: Table<AccessKey>
  readonly admins: number
  readonly separation: boolean
  /** A root hash over the bodies of all events in order. The digest covers it instead of every principal and key. */
  readonly changes: Root
}

/** Increase this when the digested view changes. */
export const ACCESS_FOLD = 1

const NONE: AccessState = {
  ...{ begun: false, roles: {}, principals: EMPTY, keys: EMPTY, admins: 0 },
  ...{ separation: true, changes: EMPTY_ROOT },
}

/** The state after an event. Throws if the event cannot follow. */
export function evolveAccess(before: AccessState | null, event: EventsOf<typeof accessBodies>): AccessState {
  const { changes, ...state } = before ?? NONE
  return { ...changed({ ...state, changes }, event), changes: appendRoot(changes, event.bodyHash) }
}

function changed(state: AccessState, { type, body }: EventsOf<typeof accessBodies>): AccessState {
  switch (type) {
    case 'access_begun':
      if (state.begun) throw new Error('access_begun twice')
      return { ...state, begun: true, roles: body.roles }
    case 'roles_changed':
      return { ...state, roles: body.roles }
    case 'principal_added': {
      const { principal: id, kind, name, subject } = body
      if (entry(state.principals, id) !== undefined) throw new Error(`${id} was added before`)
      return withPrincipal(state, { id, kind, name, subject, roles: [], removed: false })
    }
    case 'principal_removed':
      return withPrincipal(state, { ...principalOf(state, body.principal), roles: [], removed: true })
    case 'role_granted': {
      const principal = principalOf(state, body.principal)
      return withPrincipal(state, {
        ...principal,
        roles: ROLES.filter((one) => one === body.role || principal.roles.includes(one)),
      })
    }
    case 'role_taken': {
      const principal = principalOf(state, body.principal)
      return withPrincipal(state, { ...principal, roles: principal.roles.filter((one) => one !== body.role) })
    }
    case 'key_created': {
      const { key: id, principal, hash, rights, expiresAt } = body
      principalOf(state, principal)
      if (entry(state.keys, id) !== undefined) throw new Error(`the key ${id} was created before`)
      const key = { id, principal, hash, rights, expiresAt, revoked: false }
      return { ...state, keys: withEntry(state.keys, id, key) }
    }
    case 'key_revoked': {
      const key = entry(state.keys, body.key)
      if (key === undefined) throw new Error(`key_revoked of ${body.key}, which was never created`)
      return { ...state, keys: withEntry(state.keys, body.key, { ...key, revoked: true }) }
    }
    case 'rules_changed':
      return { ...state, separation: body.separation }
    default:
      return state
  }
}

function withPrincipal(state: AccessState, principal: Principal): AccessState {
  const isAdmin = (one: Principal | undefined) => (one?.roles.includes('admin') ? 1 : 0)
  const admins = state.admins + isAdmin(principal) - isAdmin(entry(state.principals, principal.id))
  return { ...state, admins, principals: withEntry(state.principals, principal.id, principal) }
}

function principalOf(state: AccessState, id: string): Principal {
  const principal = entry(state.principals, id)
  if (principal === undefined || principal.removed) throw new Error(`there is no principal ${id}`)
  return principal
}

/** A principal that was not removed. */
export function currentPrincipal(state: AccessState, id: string): Principal | undefined {
  const principal = entry(state.principals, id)
  return principal?.removed ? undefined : principal
}

/** Whether a key has expired. `now`: in ms since the epoch. */
export const isExpired = ({ expiresAt }: AccessKey, now: number): boolean =>
  expiresAt !== null && now >= instantOf(expiresAt)

/** The rights of roles, as the log recorded them last. */
export const rightsOfRoles = (state: AccessState, roles: readonly Role[]): ReadonlySet<Right> =>
  new Set(roles.flatMap((role) => (state.roles[role] ?? []) as readonly Right[]))

/** Hex SHA-256 over the numbers of principals and keys and the root of all events. */
export const accessDigest = ({ principals, keys, changes }: AccessState): string =>
  sha256(
    `keepup-access-fold-${ACCESS_FOLD}\n${canonicalText({ principals: principals.size, keys: keys.size, changes })}`,
  )
