import { z } from 'zod'
import { MAX_APPROVER_RULES } from '../../../domain/access/decide.ts'
import { KeyId, PrincipalId, Subject } from '../../../domain/access/events.ts'
import { RIGHTS, ROLES } from '../../../domain/access/rights.ts'
import { ApproverRule } from '../../../domain/calls/policy-schema.ts'
import { By, Digits } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

const Text = z.string().trim().min(1).max(200).refine(isPlain, PLAIN)
const Reason = Text.optional().meta({ description: 'Recorded' })
const Name = Text.meta({ description: 'For people, such as Ann Miller. It can be erased; the id cannot.' })
const Id = PrincipalId.meta({ description: 'Facts record the principal under this id' })
const Roles = z.array(z.enum(ROLES))
const Rights = z.array(z.enum(RIGHTS)).min(1)

export const PrincipalParam = z.strictObject({ principal: PrincipalId })
export const KeyParam = z.strictObject({ key: KeyId })

const NewKeyMembers = {
  rights: Rights.optional().meta({ description: 'The key gives only these rights. Absent: all rights of its owner' }),
  expiresAt: z.iso.datetime({ offset: true }).optional().meta({ description: 'Absent: never' }),
}

export const SetUpAccess = z
  .strictObject({ principal: Id, name: Name.optional(), by: By.optional() })
  .meta({ id: 'SetUpAccess' })

export const AddPrincipal = z
  .strictObject({
    principal: Id,
    kind: z.enum(['person', 'service']).default('person'),
    name: Name.optional(),
    roles: Roles.default([]),
    subject: Subject.optional().meta({ description: 'The person in OpenID Connect' }),
    by: By.optional(),
  })
  .meta({ id: 'AddPrincipal' })

export const RemovePrincipal = z.strictObject({ reason: Reason, by: By.optional() }).meta({ id: 'RemovePrincipal' })
export const ChangeRole = z.strictObject({ role: z.enum(ROLES), by: By.optional() }).meta({ id: 'ChangeRole' })
export const LinkPrincipals = z
  .strictObject({
    other: PrincipalId.meta({ description: 'Another id of the same person' }),
    reason: Reason,
    by: By.optional(),
  })
  .meta({ id: 'LinkPrincipals' })
export const CreateKey = z.strictObject({ ...NewKeyMembers, by: By.optional() }).meta({ id: 'CreateKey' })
export const RevokeKey = z.strictObject({ reason: Reason, by: By.optional() }).meta({ id: 'RevokeKey' })
export const SetRules = z
  .strictObject({
    separation: z.boolean().optional().meta({
      description: 'Whoever asked for a run, gave it input or forked it cannot approve its calls. Absent: as before',
    }),
    approvers: z.array(ApproverRule).max(MAX_APPROVER_RULES).optional().meta({
      description: 'Calls that several people must approve, in runs that start later. Absent: as before',
    }),
    addApprovers: z.array(ApproverRule).max(MAX_APPROVER_RULES).optional().meta({
      description: 'Rules to add. Unlike `approvers`, they keep the rules that others set in the meantime',
    }),
    by: By.optional(),
  })
  .meta({ id: 'SetRules' })

export const CreatedKey = z
  .strictObject({
    principal: z.string(),
    id: z.string(),
    key: z.string().meta({ description: 'The key itself. It is shown only here' }),
    expiresAt: z.string().nullable(),
  })
  .meta({ id: 'CreatedKey' })

export const AccessChanged = z
  .strictObject({ revision: z.int(), recorded: z.boolean().meta({ description: 'false: it was so before' }) })
  .meta({ id: 'AccessChanged' })

export const AccessView = z
  .strictObject({
    on: z.boolean().meta({ description: 'false: one token opens everything, and names are not verified' }),
    separation: z.boolean(),
    approvers: z.array(ApproverRule).readonly(),
    roles: z
      .record(z.string(), z.array(z.string()).readonly())
      .meta({ description: 'The rights of each role, as the log recorded them last' }),
  })
  .meta({ id: 'Access' })

export const Me = z
  .strictObject({
    principal: z.string().nullable().meta({ description: 'null: access is off' }),
    key: z.string().nullable().meta({ description: 'The id of the key; null: none was used' }),
    rights: z.array(z.string()).readonly(),
  })
  .meta({ id: 'Me' })

export const AccessPage = z.strictObject({
  after: z.string().optional().meta({ description: '`next` of the page before' }),
  limit: Digits.pipe(z.int().min(1).max(500)).prefault('100').meta({ type: 'integer' }),
})

export const KeysQuery = AccessPage.extend({ principal: PrincipalId.optional() })

const Principal = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['person', 'service']),
    name: z.string(),
    subject: Subject.nullable(),
    roles: z.array(z.enum(ROLES)).readonly(),
    claimed: z
      .array(
        z.strictObject({
          ...{ issuer: z.string(), audience: z.string(), issuedAt: z.string() },
          roles: z.array(z.enum(ROLES)).readonly(),
        }),
      )
      .readonly()
      .meta({ description: 'Roles that tokens of an issuer gave. Keys do not give them' }),
    linked: z.array(z.string()).readonly().meta({ description: 'Other ids of the same person' }),
    removed: z.boolean(),
  })
  .meta({ id: 'Principal', description: 'A person or a service with its roles' })

export const PrincipalList = z
  .strictObject({ principals: z.array(Principal).readonly(), next: z.string().nullable() })
  .meta({ id: 'PrincipalList' })

const AccessKeyView = z
  .strictObject({
    id: z.string(),
    principal: z.string(),
    rights: z.array(z.string()).readonly().nullable().meta({ description: 'null: all rights of its owner' }),
    expiresAt: z.string().nullable(),
    state: z.enum(['valid', 'revoked', 'expired', 'ownerless']).meta({
      description: 'ownerless: its owner was removed',
    }),
  })
  .meta({ id: 'AccessKey', description: 'A key of a person or a service, without its secret' })

export const KeyList = z
  .strictObject({ keys: z.array(AccessKeyView).readonly(), next: z.string().nullable() })
  .meta({ id: 'KeyList' })
