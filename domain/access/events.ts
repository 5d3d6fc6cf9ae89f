import { z } from 'zod'
import { ApproverRule } from '../calls/policy-schema.ts'
import type { EventsOf } from '../stream/emitter.ts'
import type { erasureEvents } from '../stream/erasure.ts'
import { keepingBodies } from './keeping.ts'
import { ROLES } from './rights.ts'

// Storage format: the events of `access-rights` (principals, roles, keys and rules), of `access-uses` (audited reads,
// operations without other facts, refused requests, logins, sessions and uses of keys) and of `access-keeping` (retention
// and legal holds).

/** The id of a principal: the name under which facts record it. */
export const PrincipalId = z.string().regex(/^[a-z0-9][a-z0-9._@+-]{0,99}$/, {
  error: 'expected 1 to 100 small letters, digits and "._@+-", beginning with a letter or digit',
})
export const KeyId = z.string().regex(/^[0-9a-hjkmnp-tv-z]{8}$/)

/** Rights by role, as one program used them. Rights are texts, because programs of other versions know other rights. */
const Roles = z.record(z.enum(ROLES), z.array(z.string().min(1)))
/** Programs with a higher version have a newer table. Absent: 0. */
const RoleTable = z.strictObject({ roles: Roles, version: z.int().positive().optional() })

/** A person as an OpenID Connect issuer knows it. */
export const Subject = z.strictObject({ issuer: z.string().min(1), subject: z.string().min(1) })

const Reason = z.string().nullable()
/** The remote address of a connection. Null: unknown, or erased. */
const Address = z.string().min(1).nullable()

/** `count` sessions of the page that began or ended. `key`: the key that opened them; null: the person logged in. */
const Signed = z.strictObject({
  principal: PrincipalId,
  key: KeyId.nullable(),
  address: Address,
  count: z.int().positive(),
})

export const accessBodies = {
  /** Access begins: from this event on each request needs a principal. */
  access_begun: RoleTable,
  /** The rights of the roles changed, because a newer keepup runs. */
  roles_changed: RoleTable,
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
  /** Two ids belong to one person, so the duties of one are the duties of both. `recovery`: the owner of the data folder. */
  principals_linked: z.strictObject({ principal: PrincipalId, other: PrincipalId, reason: z.string().optional() }),
  principals_unlinked: z.strictObject({ principal: PrincipalId, other: PrincipalId, reason: z.string().optional() }),
  /** `hash`: hex SHA-256 of the key's secret. `rights`: the key gives only these; null: all rights of the principal. */
  key_created: z.strictObject({
    key: KeyId,
    principal: PrincipalId,
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    rights: z.array(z.string().min(1)).nullable(),
    expiresAt: z.iso.datetime().nullable(),
  }),
  key_revoked: z.strictObject({ key: KeyId, reason: Reason }),
  /** The roles that an issuer's token claimed, in place of those that its tokens for this audience claimed before. */
  roles_claimed: z.strictObject({
    principal: PrincipalId,
    issuer: z.string().min(1),
    audience: z.string().min(1),
    roles: z.array(z.enum(ROLES)),
    /** The time at which the issuer made the token. */
    issuedAt: z.iso.datetime(),
  }),
  /** `separation`: whoever asked for a run, gave it input or forked it cannot approve its calls. */
  rules_changed: z.strictObject({ separation: z.boolean() }),
  /** Calls that several people must approve, in runs that start from now on. The list replaces the earlier one. */
  approvers_changed: z.strictObject({ approvers: z.array(ApproverRule) }),
  /** `count` reads of one run, or of no run, by one principal, since the last event about them. */
  read_audited: z.strictObject({
    principal: PrincipalId,
    operation: z.string().min(1),
    run: z.string().min(1).nullable(),
    count: z.int().positive(),
  }),
  /** A principal asked for an operation that leaves no other fact. `target`: a secret's name, a folder. */
  operation_requested: z.strictObject({
    principal: PrincipalId,
    operation: z.string().min(1),
    target: z.string().min(1).nullable(),
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
  /** The first valid use of a key in a day (UTC). */
  key_used: z.strictObject({ key: KeyId }),
  ...keepingBodies,
  signed_in: Signed,
  signed_out: Signed,
  /** The first use of a key from an address. */
  key_used_first_from: z.strictObject({ key: KeyId, address: Address }),
} as const

export type AccessEvent = EventsOf<typeof accessBodies & typeof erasureEvents>
