import { z } from 'zod'
import { Artifact } from '../../../domain/calls/events/event-parts.ts'
import { SeenFile } from '../../../domain/calls/question-hash.ts'
import { AnyJson, By, JsonValue, Next, Position } from '../schemas.ts'

export const AgentPath = z
  .array(z.strictObject({ agentId: z.string(), role: z.string().nullable() }))
  .readonly()
  .meta({ id: 'AgentPath', description: 'From the root agent of the run to the agent itself' })

/** `erased`: the body with the decision was erased. */
export const ApprovalState = z
  .enum(['pending', 'approved', 'rejected', 'expired', 'erased'])
  .meta({ id: 'ApprovalState', description: 'How a question about a call stands' })

/** A person who approved before the last one. */
export const Supporter = z
  .strictObject({ by: z.string(), claimed: z.boolean(), at: z.string(), reason: z.string().nullable() })
  .meta({ id: 'Supporter', description: 'A person who approved before the last one' })

const Needed = z.int().meta({ description: 'How many people must approve' })
const Supporters = z.array(Supporter).readonly().meta({ description: 'Those who approved before the last one' })
export const SeveralApprovers = { needed: Needed, supporters: Supporters } as const

export const Approval = z
  .strictObject({
    toolCallId: z.string(),
    runId: z.string(),
    agentId: z.string(),
    agentPath: AgentPath,
    toolName: z.string(),
    argumentsHash: z.string(),
    arguments: AnyJson,
    secrets: z
      .array(z.strictObject({ name: z.string(), to: z.string() }))
      .readonly()
      .meta({ description: 'The secrets that the call sends, by name, and where each goes' }),
    reason: z.string(),
    requestedAt: z.string(),
    expiresAt: z.string(),
    state: ApprovalState,
    by: z.string().nullable(),
    ...SeveralApprovers,
  })
  .meta({ id: 'Approval', description: 'A call that waits for a person, or that a person decided' })

export const ApprovalList = z
  .strictObject({ position: Position, approvals: z.array(Approval).readonly(), next: Next })
  .meta({ id: 'ApprovalList' })

/** Hex SHA-256. */
const QuestionHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'expected the questionHash of what was read, 64 hex digits')
  .meta({
    description:
      'The question as it was read: the call, its arguments, the places of its secrets, and the files of the preview',
  })

export const ApprovalDetail = z
  .strictObject({
    position: Position,
    approval: Approval,
    preview: z.strictObject({
      kind: z.enum(['diff', 'command', 'permission', 'arguments']),
      text: z.string().meta({
        description:
          'What the agent chose. Marks of keepup in it stand between ‹ and ›, which it does not contain otherwise',
      }),
      notes: z.array(z.string()).readonly().meta({ description: 'Sentences of keepup about the text' }),
      files: z.array(SeenFile).readonly().meta({ description: 'The files on which the decision rests' }),
    }),
    questionHash: QuestionHash,
  })
  .meta({ id: 'ApprovalDetail' })

/** `questionHash`: the question that the person has read. The answer is valid only for this question. */
export const DecisionBody = z
  .strictObject({
    decision: z.enum(['approved', 'rejected']),
    questionHash: QuestionHash,
    reason: z.string().min(1).optional(),
    by: By.optional(),
  })
  .meta({ id: 'Decision' })

/** The call happened (with this result), or it did not: run it, or abandon it. */
export const DoubtBody = z
  .strictObject({
    decision: z.enum(['happened', 'run', 'abandon']),
    questionHash: QuestionHash,
    result: JsonValue.optional(),
    reason: z.string().min(1).optional(),
    by: By.optional(),
  })
  .refine((b) => b.result === undefined || b.decision === 'happened', { error: 'a result goes with "happened" only' })
  .meta({ id: 'Doubt' })

/**
 * A question to a person: whether a call may happen, whether a call has happened, or a question of the agent. `text`:
 * the reason or the question; empty if the agent waits for its task.
 */
export const Ask = z
  .strictObject({
    for: z.enum(['approval', 'doubt', 'input']),
    runId: z.string(),
    agentId: z.string(),
    agentPath: AgentPath,
    toolCallId: z.string().nullable(),
    toolName: z.string().nullable(),
    arguments: AnyJson,
    text: z.string(),
  })
  .meta({
    id: 'Ask',
    description: 'Something that waits for a person: an approval, a call in doubt, or a question of the agent',
  })
export type AskView = z.infer<typeof Ask>

export const DoubtList = z
  .strictObject({ position: Position, doubts: z.array(Ask).readonly() })
  .meta({ id: 'DoubtList' })

/** `doubt` null: the run has ended, so lists do not contain the question. */
export const DoubtDetail = z
  .strictObject({ position: Position, doubt: Ask.nullable(), questionHash: QuestionHash })
  .meta({ id: 'DoubtDetail' })

export const QuestionList = z
  .strictObject({ position: Position, questions: z.array(Ask).readonly() })
  .meta({ id: 'QuestionList' })

export const ArtifactView = z
  .strictObject({
    artifact: Artifact.extend({
      content: z.string().optional().meta({ description: 'What the agent gave as its content; files have none here' }),
    }),
    runId: z.string(),
    agentId: z.string(),
    registeredWith: z.string().nullable(),
    checkpointId: z.string().nullable(),
    createdAt: z.string(),
  })
  .meta({ id: 'ArtifactView', description: 'What an agent made: a file, a plan, a report or a diagram' })

export const ArtifactList = z
  .strictObject({ position: Position, artifacts: z.array(ArtifactView).readonly(), next: Next })
  .meta({ id: 'ArtifactList' })
