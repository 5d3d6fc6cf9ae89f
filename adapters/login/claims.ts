import { PrincipalId } from '../../domain/access/events.ts'
import { ROLES, type Role } from '../../domain/access/rights.ts'
import { TokenRefused } from '../../domain/access/token-errors.ts'
import { sha256 } from '../../domain/log/ids.ts'
import { instantText } from '../../domain/log/instant.ts'
import type { VerifiedToken } from '../../domain/ports/login.ts'
import type { RoleRule } from './settings.ts'

type Claims = Readonly<Record<string, unknown>>

/** The difference between two clocks that is accepted, in s. */
export const TOLERANCE_S = 30
/** The limit of OpenID Connect. */
const MAX_SUBJECT = 255

const isPlain = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= most && !/[\p{Cc}\p{Cs}]/u.test(value)

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Claims)[name] : undefined

/** A claim by its name, or by the path of a member of a claim. */
const claimAt = (claims: Claims, path: string): unknown =>
  member(claims, path) ?? path.split('.').reduce<unknown>(member, claims)

/** The roles that the rules give for claims, sorted as {@link ROLES}. */
export function rolesIn(claims: Claims, rules: readonly RoleRule[]): readonly Role[] {
  const given = new Set(
    rules.filter(({ claim, value }) => [claimAt(claims, claim)].flat().includes(value)).map(({ role }) => role),
  )
  return ROLES.filter((role) => given.has(role))
}

/** Ids for a new principal: its names at the issuer that can be ids, then a hash, which is always free. */
function idsOf(issuer: string, subject: string, claims: Claims): readonly string[] {
  // Anyone can claim an address that the issuer did not verify.
  const email = claims.email_verified === true ? claims.email : undefined
  const names = [claims.preferred_username, email]
    .filter((name) => typeof name === 'string')
    .map((name) => name.toLowerCase())
    .filter((name) => PrincipalId.safeParse(name).success)
  return [...names, `id-${sha256(JSON.stringify([issuer, subject])).slice(0, 16)}`]
}

/** What keepup takes from verified claims. `now`: in ms since the epoch. Throws TokenRefused. */
export function tokenFrom(
  claims: Claims,
  {
    issuer,
    audience,
    roles,
    kind,
    now,
  }: Pick<VerifiedToken, 'kind'> & {
    readonly issuer: string
    readonly audience: string
    readonly roles: readonly RoleRule[]
    readonly now: number
  },
): VerifiedToken {
  const { sub: subject, iat, exp, name } = claims
  if (!isPlain(subject, MAX_SUBJECT) || typeof iat !== 'number' || typeof exp !== 'number' || iat < 0)
    throw new TokenRefused('claims')
  if (iat * 1000 > now + TOLERANCE_S * 1000) throw new TokenRefused('not_yet_valid')
  const ids = idsOf(issuer, subject, claims)
  return {
    ...{ subject: { issuer, subject }, kind, ids, expiresAt: exp * 1000 },
    name: isPlain(name, 200) ? name : ids[0]!,
    claim: { issuer, audience, roles: rolesIn(claims, roles), issuedAt: instantText(iat * 1000) },
  }
}
