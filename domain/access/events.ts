import { z } from 'zod'
import type { EventsOf } from '../stream/emitter.ts'
import type { erasureEvents } from '../stream/erasure.ts'
import { ROLES } from './rights.ts'

// Storage format: the events of `access-rights` (principals, roles, keys and rules) and of `access-uses` (audited reads,
// refused requests and failed logins).

/** The id of a principal: the name under which facts record it. */
export const PrincipalId = z.string().regex(/^[a-z0-9][a-z0-9._@+-]{0,99}$/, {
  error: 'expected 1 to 100 small letters, digits and "._@+-", beginning with a letter or digit',
})
export const KeyId = z.string().regex(/^[0-9a-hjkmnp-tv-z]{8}$/)

/** Rights by role, as one program used them. Rights are texts, because programs of other versions know other rights. */
const Roles = z.record(z.enum(ROLES), z.array(z.string().min(1)))

/** A person as an OpenID Connect issuer knows it. */
export const Subject = z.strictObject({ issuer: z.string().min(1), subject: z.string().min(1) })

const Reason = z.string().nullable()

export const accessBodies = {
  /** Access begins: from this event on each request needs a principal. */
  access_begun: z.strictObject({ roles: Roles }),
  /** The rights of the roles changed, because a keepup of another version runs. */
  roles_changed: z.strictObject({ roles: Roles }),
  principal_added: z.strictObject({
    principal: PrincipalId,
    kind: z.enum(['person', 'service']),
    name: z.string().min(1),
    subject: Subject.optional(),
  }),
  /** The principal loses its roles and keys for ever. */
  principal_removed: z.strictObject({ principal: PrincipalId, reason: Reason }),
  role_granted: z.strictObject({ principal: PrincipalId, role: z.enum(ROLES) }),
  role_taken: z.strictObject({ principal: PrincipalId, role: z.enum(ROLES) }),
  /** `hash`: hex SHA-256 of the key's secret. `rights`: the key gives only these; null: all rights of the principal. */
  key_created: z.strictObject({
    key: KeyId,
    principal: PrincipalId,
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    rights: z.array(z.string().min(1)).nullable(),
    expiresAt: z.iso.datetime().nullable(),
  }),
  key_revoked: z.strictObject({ key: KeyId, reason: Reason }),
  /** `separation`: whoever asked for a run, gave it input or forked it cannot approve its calls. */
  rules_changed: z.strictObject({ separation: z.boolean() }),
  /** `count` reads of one run, or of no run, by one principal, since the last event about them. */
  read_audited: z.strictObject({
    principal: PrincipalId,
    operation: z.string().min(1),
    run: z.string().min(1).nullable(),
    count: z.int().positive(),
  }),
  /** `count` requests without the right that they need, or against a rule. */
  request_refused: z.strictObject({
    principal: PrincipalId,
    operation: z.string().min(1),
    run: z.string().min(1).nullable(),
    code: z.string().min(1),
    count: z.int().positive(),
  }),
  /** `count` requests whose key, token or session is not valid. `key`: the id of the key, if the request had one. */
  login_failed: z.strictObject({
    key: KeyId.nullable(),
    reason: z.string().min(1),
    address: z.string().min(1).nullable(),
    count: z.int().positive(),
  }),
} as const

export type AccessEvent = EventsOf<typeof accessBodies & typeof erasureEvents>
