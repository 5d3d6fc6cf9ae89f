import { z } from 'zod'
import { ROLES } from '../../domain/access/rights.ts'

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether a request to this address is encrypted, or stays on this machine. */
function isPrivate(text: string): boolean {
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || LOOPBACK.has(hostname)
}

const Address = z
  .url({ protocol: /^https?$/, error: 'expected https://…', abort: true })
  .refine(isPrivate, 'expected https://…; http:// is only for issuers on this machine (localhost, 127.0.0.1, [::1])')
  .refine((text) => new URL(text).username === '', 'expected an address without a user')
  .refine((text) => !/[?#]/.test(text), 'expected an address without ? and #')

/** The path to which issuers send browsers back. */
export const CALLBACK = '/v1/session/oidc/callback'

/** A role for everyone whose claim has this value, or contains it if it is a list. */
const RoleRule = z.strictObject({
  /** The name of the claim, such as `groups`; a path with dots, such as `realm_access.roles`, for members of objects. */
  claim: z.string().min(1),
  value: z.string().min(1),
  role: z.enum(ROLES),
})
export type RoleRule = z.infer<typeof RoleRule>

const notInFile = 'the secret belongs to the variable KEEPUP_OIDC_SECRET, not to the file'

export const OidcSettings = z.strictObject({
  /** Exactly as the issuer names itself. */
  issuer: Address,
  clientId: z.string().min(1),
  clientSecret: z.undefined({ error: notInFile }).optional(),
  redirectUri: Address.refine(
    (text) => new URL(text).pathname === CALLBACK,
    `expected the address of keepup in browsers, then ${CALLBACK}`,
  )
    .nullable()
    .default(null),
  scopes: z
    .array(z.string().regex(/^[!#-[\]-~]+$/, 'expected a scope without spaces'))
    .refine((scopes) => scopes.includes('openid'), 'expected "openid" among them')
    .default(['openid', 'profile', 'email']),
  roles: z.array(RoleRule).default([]),
})
export type OidcSettings = z.infer<typeof OidcSettings>

export const JwtSettings = z.strictObject({
  issuer: Address,
  audience: z.string().min(1),
  /** The address of the issuer's public keys. */
  jwks: Address,
  roles: z.array(RoleRule).default([]),
})
export type JwtSettings = z.infer<typeof JwtSettings>

/** The issuers of people and services. */
export const LoginSettings = z.strictObject({
  oidc: OidcSettings.nullable().default(null),
  jwt: z
    .array(JwtSettings)
    .refine(
      (all) => new Set(all.map(({ issuer, audience }) => JSON.stringify([issuer, audience]))).size === all.length,
      'two entries have the same issuer and audience; make one of them',
    )
    .default([]),
})
export type LoginSettings = z.infer<typeof LoginSettings>
