import { z } from 'zod'
import { RequestedPolicy } from '../../../domain/calls/policy-schema.ts'
import { Id } from '../schemas.ts'

export const CheckPolicy = z
  .strictObject({
    policy: RequestedPolicy.optional().meta({
      description: 'Instead of the policy of the runs; what it leaves out is as usual',
    }),
    role: z.string().min(1).max(200).optional().meta({ description: 'Instead of the role of the runs' }),
    runs: z.array(Id).min(1).max(1_000),
  })
  .refine(({ policy, role }) => policy !== undefined || role !== undefined, {
    path: ['policy'],
    error: 'name a policy, a role, or both',
  })
  .meta({ id: 'CheckPolicy' })
export type CheckPolicy = z.output<typeof CheckPolicy>

const Call = z.strictObject({
  runId: z.string(),
  agentId: z.string(),
  turn: z.int(),
  toolCallId: z.string(),
  toolName: z.string(),
  would: z.enum(['refuse', 'ask', 'permit']),
  code: z.string().nullable().meta({ description: 'With which the call would have failed; null: it is asked' }),
  rule: z.string().nullable(),
  reason: z.string(),
  recorded: z
    .strictObject({ asked: z.boolean(), end: z.string().nullable() })
    .meta({ description: 'What was recorded: whether a person was asked, and how the call ended: ok, or a code' }),
})

export const PolicyChecked = z
  .strictObject({
    calls: z.int().meta({ description: 'Recorded calls that were held against the rules' }),
    found: z.array(Call).meta({ description: 'Those that the rules would have refused, or asked a person about' }),
    ungoverned: z.array(z.string()).meta({ description: 'Runs of other agents, of which no policy sees the calls' }),
    unknown: z
      .array(z.string())
      .meta({ description: 'Names in the policy that no tool of these runs has: they refuse nothing here' }),
  })
  .meta({ id: 'PolicyChecked' })
export type PolicyChecked = z.infer<typeof PolicyChecked>
