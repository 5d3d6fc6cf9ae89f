import { z } from 'zod'
import { SeveralApprovers } from '../approvals/schemas.ts'
import { Next, Position } from '../schemas.ts'

export const CallDecision = z
  .strictObject({
    toolCallId: z.string(),
    runId: z.string(),
    agentId: z.string(),
    toolName: z.string().nullable(),
    effect: z.string().nullable(),
    decision: z.enum(['pending', 'allowed', 'denied', 'expired', 'undecided', 'erased']).meta({
      description: 'undecided: the call or its agent ended first; erased: the decision was erased',
    }),
    method: z.enum(['person', 'standing_approval', 'permission', 'policy']).nullable(),
    rule: z.string().nullable().meta({
      description:
        'The rule of the policy, the pattern of the standing approval, or the call that asked for the permission',
    }),
    principal: z.string().nullable().meta({ description: 'The person, also of a standing approval or a permission' }),
    claimed: z.boolean().meta({ description: 'The request named the person; access control has not checked the name' }),
    ...SeveralApprovers,
    policyHash: z.string().nullable(),
    shownHash: z.string().nullable().meta({ description: 'Of the question as the person saw it' }),
    askedAt: z.string().nullable(),
    decidedAt: z.string().nullable(),
  })
  .meta({ id: 'CallDecision', description: 'How a call was decided: by whom or by which rule, and when' })
export type CallDecision = z.infer<typeof CallDecision>

export const CallDecisionList = z
  .strictObject({ position: Position, decisions: z.array(CallDecision).readonly(), next: Next })
  .meta({ id: 'CallDecisionList' })
export type CallDecisionList = z.infer<typeof CallDecisionList>
