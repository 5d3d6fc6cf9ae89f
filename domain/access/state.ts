import type { z } from 'zod'
import type { ApproverRule } from '../calls/policy-schema.ts'
import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import { instantOf } from '../log/instant.ts'
import { appendRoot, EMPTY_ROOT, type Root } from '../log/root.ts'
import type { EventsOf } from '../stream/emitter.ts'
import { EMPTY, entry, type Table, withEntry } from '../stream/table.ts'
import type { accessBodies, Subject } from './events.ts'
import { evolveKeeping, isKeepingEvent, type KeepingState, NOTHING_KEPT } from './keeping.ts'
import { type Right, ROLES, type Role } from './rights.ts'

/** The id of the owner of the data folder, who needs no key. No principal can be added with it. */
export const RECOVERY = 'recovery'

/** An issuer, and the audience that its tokens name. */
export interface TokenSource {
  readonly issuer: string
  readonly audience: string
}

/** The roles that the tokens of a source claim for a principal. */
export interface Claim extends TokenSource {
  /** Sorted as {@link ROLES}. */
  readonly roles: readonly Role[]
  /** ISO 8601. */
  readonly issuedAt: string
}

export interface Principal {
  readonly id: string
  readonly kind: 'person' | 'service'
  readonly name: string
  readonly subject?: z.infer<typeof Subject> | undefined
  /** The granted roles, sorted as {@link ROLES}. */
  readonly roles: readonly Role[]
  /** The claimed roles, one entry for each source. */
  readonly claimed: readonly Claim[]
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

/** The members of {@link KeepingState} are in use only in `access-keeping`, all others only in `access-rights`. */
export interface AccessState extends KeepingState {
  /** Whether access has begun. */
  readonly begun: boolean
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>
  /** The version of the program's table that `roles` is from. */
  readonly rolesVersion: number
  readonly principals: Table<Principal>
  readonly keys: Table<AccessKey>
  /** Ids of principals by {@link subjectKey}. */
  readonly subjects: Table<string>
  /** By id: the ids that were linked to it. Removed principals keep their links. */
  readonly links: Table<readonly string[]>
  /** When the last use of each key was recorded, in ms. */
  readonly used: Table<number>
  /** The addresses from which each key was used. Null: erased. */
  readonly addresses: Table<readonly (string | null)[]>
  readonly admins: number
  readonly separation: boolean
  /** Rules that are added to the policies of new runs. */
  readonly approvers: readonly ApproverRule[]
  /** A root hash over the bodies of all events in order. The digest covers it instead of every principal and key. */
  readonly changes: Root
}

/** Increase this when the digested view changes. */
export const ACCESS_FOLD = 1

const NONE: AccessState = {
  ...{
    begun: false,
    roles: {},
    rolesVersion: 0,
    principals: EMPTY,
    keys: EMPTY,
    subjects: EMPTY,
    links: EMPTY,
    used: EMPTY,
    addresses: EMPTY,
    admins: 0,
  },
  ...{ separation: true, approvers: [], changes: EMPTY_ROOT, ...NOTHING_KEPT },
}

/** The state after an event. Throws if the event cannot follow. */
export function evolveAccess(before: AccessState | null, event: EventsOf<typeof accessBodies>): AccessState {
  const { changes, ...state } = before ?? NONE
  return { ...changed({ ...state, changes }, event), changes: appendRoot(changes, event.bodyHash) }
}

function changed(state: AccessState, event: EventsOf<typeof accessBodies>): AccessState {
  if (isKeepingEvent(event)) return evolveKeeping(state, event)
  const { type, body } = event
  switch (type) {
    case 'access_begun':
      if (state.begun) throw new Error('access_begun twice')
      return { ...state, begun: true, roles: body.roles, rolesVersion: body.version ?? 0 }
    case 'roles_changed':
      return { ...state, roles: body.roles, rolesVersion: body.version ?? 0 }
    case 'principal_added': {
      const { principal: id, kind, name, subject } = body
      if (entry(state.principals, id) !== undefined) throw new Error(`${id} was added before`)
      const added = withPrincipal(state, { id, kind, name, subject, roles: [], claimed: [], removed: false })
      return subject === undefined ? added : { ...added, subjects: withEntry(added.subjects, subjectKey(subject), id) }
    }
    case 'principal_removed':
      return withPrincipal(state, { ...principalOf(state, body.principal), roles: [], claimed: [], removed: true })
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
    case 'principals_linked':
    case 'principals_unlinked': {
      const { principal, other } = body
      const isLinked = type === 'principals_linked'
      return withLink(withLink(state, principal, other, isLinked), other, principal, isLinked)
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
    case 'roles_claimed': {
      const { principal: id, ...claim } = body
      const principal = principalOf(state, id)
      const others = principal.claimed.filter((one) => !isFrom(one, claim))
      return withPrincipal(state, { ...principal, claimed: [...others, claim] })
    }
    case 'key_used':
      return { ...state, used: withEntry(state.used, body.key, event.at) }
    case 'key_used_first_from': {
      const known = entry(state.addresses, body.key) ?? []
      return { ...state, addresses: withEntry(state.addresses, body.key, [...known, body.address]) }
    }
    case 'rules_changed':
      return { ...state, separation: body.separation }
    case 'approvers_changed':
      return { ...state, approvers: body.approvers }
    default:
      return state
  }
}

function withPrincipal(state: AccessState, principal: Principal): AccessState {
  const isAdmin = (one: Principal | undefined) => (one?.roles.includes('admin') ? 1 : 0)
  const admins = state.admins + isAdmin(principal) - isAdmin(entry(state.principals, principal.id))
  return { ...state, admins, principals: withEntry(state.principals, principal.id, principal) }
}

function withLink(state: AccessState, from: string, to: string, isLinked: boolean): AccessState {
  const others = linksOf(state, from).filter((one) => one !== to)
  return { ...state, links: withEntry(state.links, from, isLinked ? [...others, to] : others) }
}

/** The direct links of an id. */
export const linksOf = (state: AccessState, id: string): readonly string[] => entry(state.links, id) ?? []

/** The ids of one person: this id first, then its direct links, then the links of those. */
export function idsOfPerson(state: AccessState, id: string): ReadonlySet<string> {
  const ids = new Set([id])
  // Iterates over the added ids too.
  for (const one of ids) for (const other of linksOf(state, one)) ids.add(other)
  return ids
}

/** The other ids of the person with this id. */
export const otherIdsOf = (state: AccessState, id: string): readonly string[] => [...idsOfPerson(state, id)].slice(1)

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

export type SubjectOf = z.infer<typeof Subject>

const subjectKey = ({ issuer, subject }: SubjectOf): string => canonicalText([issuer, subject])

/** The principal of an issuer's subject, also a removed one. Never compare names or addresses: issuers let people choose them. */
export function principalOfSubject(state: AccessState, subject: SubjectOf): Principal | undefined {
  const id = entry(state.subjects, subjectKey(subject))
  return id === undefined ? undefined : entry(state.principals, id)
}

const isFrom = (one: TokenSource, other: TokenSource): boolean =>
  one.issuer === other.issuer && one.audience === other.audience

/** The last recorded claim of a source. */
export const claimOf = ({ claimed }: Principal, source: TokenSource): Claim | undefined =>
  claimed.find((one) => isFrom(one, source))

/** Whether a claim must be recorded before it counts. A token that is older than the recorded one changes nothing. */
export function isNewClaim(principal: Principal, claim: Claim): boolean {
  const last = claimOf(principal, claim)
  if (last === undefined) return claim.roles.length > 0
  return instantOf(claim.issuedAt) >= instantOf(last.issuedAt) && last.roles.join() !== claim.roles.join()
}

/** Whether a key has expired. `now`: in ms since the epoch. */
export const isExpired = ({ expiresAt }: AccessKey, now: number): boolean =>
  expiresAt !== null && now >= instantOf(expiresAt)

/** The roles that a principal has by grant or by the last tokens of its issuers, sorted as {@link ROLES}. */
export const allRolesOf = ({ roles, claimed }: Principal): readonly Role[] =>
  ROLES.filter((role) => roles.includes(role) || claimed.some((one) => one.roles.includes(role)))

/** The rights of roles, as the log recorded them last. */
export const rightsOfRoles = (state: AccessState, roles: readonly Role[]): ReadonlySet<Right> =>
  new Set(roles.flatMap((role) => (state.roles[role] ?? []) as readonly Right[]))

/** Hex SHA-256 over the numbers of principals and keys and the root of all events. */
export const accessDigest = ({ principals, keys, changes }: AccessState): string =>
  sha256(
    `keepup-access-fold-${ACCESS_FOLD}\n${canonicalText({ principals: principals.size, keys: keys.size, changes })}`,
  )
