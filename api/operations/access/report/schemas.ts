import { z } from 'zod'
import { ROLES } from '../../../../domain/access/rights.ts'
import { SeveralApprovers } from '../../approvals/schemas.ts'
import { Hold, Retention } from '../../keeping/schemas.ts'
import { MOMENT, Moment } from '../../moment-schema.ts'
import { AnyJson, Id, Position } from '../../schemas.ts'

const only = { error: 'give either a run or a call; since and until go with neither' }

export const ReportQuery = z
  .strictObject({
    run: Id.optional(),
    call: Id.optional().meta({ description: 'Of the decisions of its run, only those about this call' }),
    since: Moment.optional().meta({ type: 'string', description: `Changes and uses then or later: ${MOMENT}` }),
    until: Moment.optional().meta({ type: 'string', description: 'Changes and uses before then' }),
  })
  .refine(({ run, call, since, until }) => {
    const target = [run, call].filter((one) => one !== undefined).length
    return target === 0 || (target === 1 && since === undefined && until === undefined)
  }, only)

const Uses = z
  .array(
    z.strictObject({
      principal: z.string().nullable(),
      key: z.string().nullable(),
      operation: z.string().nullable(),
      run: z.string().nullable(),
      reason: z.string().nullable(),
      address: z.string().nullable(),
      count: z.int(),
      first: z.string().meta({ description: 'Uses are recorded once a minute; these are times of records' }),
      last: z.string(),
    }),
  )
  .readonly()

const Approver = z.strictObject({
  principal: z.string(),
  name: z.string(),
  roles: z.array(z.enum(ROLES)).readonly(),
  excluded: z.boolean().meta({ description: 'true: separation of duties; the principal had asked for the run' }),
})

const Decision = z
  .strictObject({
    toolCallId: z.string(),
    agentId: z.string(),
    toolName: z.string().nullable(),
    state: z.string().meta({ description: 'pending, approved, rejected, expired; not asked; erased' }),
    rule: z.string().nullable().meta({ description: 'The rule of the policy, or the standing approval' }),
    requestedAt: z.string().nullable(),
    decidedAt: z.string().nullable(),
    by: z.string().nullable(),
    claimed: z.boolean().meta({ description: 'true: nobody verified the name, because access was off' }),
    reason: z.string().nullable(),
    ...SeveralApprovers,
    could: z
      .array(Approver)
      .readonly()
      .nullable()
      .meta({ description: 'Who could have decided then, by the rights of that time; null: access was off' }),
  })
  .meta({ id: 'DecisionReport', description: 'A question about a call, who answered it, and who could have' })

const Erasure = z.strictObject({
  stream: z.string(),
  revision: z.int(),
  at: z.string(),
  by: z.string(),
  code: z.string(),
  reason: z.string(),
  bodies: z.int(),
})

const RunReport = z
  .strictObject({
    run: z.string(),
    participants: z
      .array(
        z.strictObject({
          by: z.string(),
          how: z.enum(['asked', 'forked', 'input', 'message']),
          run: z.string().meta({ description: 'This run, or one of which it is a fork' }),
          count: z.int(),
          first: z.string(),
          last: z.string(),
        }),
      )
      .readonly(),
    forks: z.array(z.strictObject({ run: z.string(), by: z.string().nullable(), at: z.string() })).readonly(),
    standing: z
      .array(z.strictObject({ agentId: z.string(), tools: AnyJson, by: z.string(), at: z.string() }))
      .readonly()
      .meta({ description: 'Tools that were approved beforehand' }),
    decisions: z.array(Decision).readonly(),
    reads: Uses,
    refused: Uses,
    erasures: z.array(Erasure).readonly(),
    holds: z.array(Hold).readonly().meta({ description: 'That cover a part of the run, also lifted ones' }),
    retention: z.strictObject({
      days: z.int().nullable(),
      erasedFrom: z.string().nullable().meta({ description: 'null: never by policy, or the run has not ended' }),
    }),
  })
  .meta({ id: 'RunReport', description: 'Who took part in a run, decided about its calls, and has read or erased it' })
export type RunReport = z.infer<typeof RunReport>

const LogReport = z
  .strictObject({
    access: z.strictObject({ on: z.boolean(), separation: z.boolean() }),
    principals: z
      .array(
        z.strictObject({
          id: z.string(),
          kind: z.enum(['person', 'service']),
          name: z.string(),
          roles: z.array(z.enum(ROLES)).readonly(),
          linked: z.array(z.string()).readonly().meta({ description: 'Other ids of the same person' }),
          removed: z.boolean(),
        }),
      )
      .readonly(),
    keys: z
      .array(
        z.strictObject({
          id: z.string(),
          principal: z.string(),
          state: z.enum(['valid', 'revoked', 'expired', 'ownerless']),
          expiresAt: z.string().nullable(),
          lastUse: z.string().nullable().meta({ description: 'To the day: the first use of a day is recorded' }),
        }),
      )
      .readonly(),
    changes: z
      .array(
        z.strictObject({
          at: z.string(),
          by: z.string(),
          stream: z.string(),
          revision: z.int(),
          type: z.string(),
          change: AnyJson,
        }),
      )
      .readonly()
      .meta({ description: 'Changes of principals, roles, keys, rules, retention and holds in the span, in order' }),
    failed: Uses,
    refused: Uses,
    keptSince: z
      .array(z.strictObject({ kind: z.string(), stream: z.string(), revision: z.int(), at: z.string() }))
      .readonly()
      .meta({ description: 'By kind of stream: the oldest event whose text is not erased' }),
    holds: z.array(Hold).readonly(),
    retention: Retention.shape.retention,
  })
  .meta({
    id: 'LogReport',
    description: 'Who has access to the log, what was changed about that, and which attempts failed or were refused',
  })
export type LogReport = z.infer<typeof LogReport>

export const AccessReport = z
  .strictObject({
    position: Position,
    run: RunReport.nullable().meta({ description: 'null: no run or call was asked for' }),
    log: LogReport.nullable(),
  })
  .meta({ id: 'AccessReport' })
