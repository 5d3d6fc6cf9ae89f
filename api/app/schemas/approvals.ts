import { z } from '@hono/zod-openapi'
import { Artifact } from '../../../domain/agent/events/events.ts'
import { AnyJson, By, JsonValue, Next, Position } from './common.ts'

/** `erased`: the body that held the decision is gone. */
export const ApprovalState = z.enum(['pending', 'approved', 'rejected', 'expired', 'erased']).openapi('ApprovalState')

export const Approval = z
  .strictObject({
    toolCallId: z.string(),
    runId: z.string(),
    agentId: z.string(),
    toolName: z.string(),
    argumentsHash: z.string(),
    arguments: AnyJson,
    reason: z.string(),
    requestedAt: z.string(),
    expiresAt: z.string(),
    state: ApprovalState,
    by: z.string().nullable(),
  })
  .openapi('Approval')

export const ApprovalList = z
  .strictObject({ position: Position, approvals: z.array(Approval).readonly(), next: Next })
  .openapi('ApprovalList')

export const ApprovalDetail = z
  .strictObject({
    position: Position,
    approval: Approval,
    preview: z.strictObject({ kind: z.enum(['diff', 'command', 'arguments']), text: z.string() }),
  })
  .openapi('ApprovalDetail')

/** `argumentsHash`: what was looked at; a call with other arguments is not approved. */
export const DecisionBody = z
  .strictObject({
    decision: z.enum(['approved', 'rejected']),
    argumentsHash: z.string().min(1).optional(),
    reason: z.string().min(1).optional(),
    by: By.optional(),
  })
  .openapi('Decision')

/** It happened (with this result), it did not: run it, or abandon it. */
export const DoubtBody = z
  .strictObject({
    decision: z.enum(['happened', 'run', 'abandon']),
    result: JsonValue.optional(),
    reason: z.string().min(1).optional(),
    by: By.optional(),
  })
  .refine((b) => b.result === undefined || b.decision === 'happened', { error: 'a result goes with "happened" only' })
  .openapi('Doubt')

/**
 * What a person is asked: to let a call happen, to say what became of one, or a question of the agent. `text`: the reason,
 * or the question; empty where the agent waits to be told its task.
 */
export const Ask = z
  .strictObject({
    for: z.enum(['approval', 'doubt', 'input']),
    runId: z.string(),
    agentId: z.string(),
    toolCallId: z.string().nullable(),
    toolName: z.string().nullable(),
    arguments: AnyJson,
    text: z.string(),
  })
  .openapi('Ask')

export const DoubtList = z.strictObject({ position: Position, doubts: z.array(Ask).readonly() }).openapi('DoubtList')

export const QuestionList = z
  .strictObject({ position: Position, questions: z.array(Ask).readonly() })
  .openapi('QuestionList')

export const ArtifactView = z
  .strictObject({
    artifact: Artifact.extend({
      content: z
        .string()
        .optional()
        .openapi({ description: 'What the agent gave as its content; files have none here' }),
    }),
    runId: z.string(),
    agentId: z.string(),
    registeredWith: z.string().nullable(),
    checkpointId: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi('ArtifactView')

export const ArtifactList = z
  .strictObject({ position: Position, artifacts: z.array(ArtifactView).readonly(), next: Next })
  .openapi('ArtifactList')
