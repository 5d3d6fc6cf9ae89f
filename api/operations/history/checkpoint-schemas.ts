import { z } from 'zod'
import { Task } from '../../../domain/agent/tasks/events.ts'
import { PermissionView } from '../permissions/schemas.ts'
import { MachineState } from '../runs/schemas.ts'
import { AnyJson, Next, PageQuery, Position } from '../schemas.ts'

const count = z.int().nonnegative()

/** Each whole checkpoint holds all messages before it. */
const MAX_WHOLE = 50

export const CheckpointsQuery = PageQuery.extend({
  include: z.literal('state').optional().meta({ description: 'Each entry is the whole checkpoint' }),
}).refine((q) => q.include === undefined || q.limit <= MAX_WHOLE, {
  error: `with include=state a page has at most ${MAX_WHOLE} checkpoints`,
  path: ['limit'],
})

/** A requested call that has not ended. `arguments` null: not a JSON object, or erased. */
const PendingCall = z
  .strictObject({ id: z.string(), name: z.string(), arguments: AnyJson })
  .meta({ id: 'ToolCall', description: 'A call of a tool that has no result yet' })

/** The end of a call. `erased`: only the fact that it ended is known. */
const Result = z
  .strictObject({
    toolCallId: z.string(),
    name: z.string(),
    success: z.boolean().nullable(),
    result: AnyJson.optional(),
    error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    erased: z.literal(true).optional(),
  })
  .meta({ id: 'ToolResult', description: 'The result of a call of a tool' })

/** The members of each checkpoint in a list. */
export const CheckpointEntry = z.strictObject({
  id: z.string(),
  threadId: z.string().meta({ description: 'The agent' }),
  step: count,
  revision: z.int(),
  turn: count,
  timestamp: z.string(),
})

/** The content of a checkpoint (seed 000, 5.5; 003: `pendingCreates`). */
const content = {
  state: z.strictObject({
    messages: z.array(AnyJson).readonly(),
    sopPhase: z.string(),
    contextVariables: z.record(z.string(), AnyJson),
  }),
  pendingToolCalls: z.array(PendingCall).readonly(),
  completedToolResults: z.array(Result).readonly().meta({ description: 'Those of its turn' }),
  pendingCreates: z.array(z.string()).readonly().meta({ description: 'Files that the step has created' }),
  documents: z
    .record(z.string(), z.string())
    .meta({ description: 'Frontiers of the documents that the agent has touched, by document id' }),
  usage: z.strictObject({
    inputTokens: count,
    outputTokens: count,
    cost: z.number().nonnegative().meta({ description: 'In dollars, to be read' }),
    nanoDollars: count,
  }),
}

export const CheckpointView = CheckpointEntry.extend(content).meta({
  id: 'Checkpoint',
  description: 'The state of an agent at a step',
})

/** With `include=state` each entry is a whole checkpoint. */
const Listed = CheckpointEntry.extend(z.object(content).partial().shape)

export const CheckpointList = z
  .strictObject({
    position: Position,
    checkpoints: z.array(Listed).readonly(),
    next: Next,
  })
  .meta({ id: 'CheckpointList' })

export const CheckpointDetail = z
  .strictObject({ position: Position, checkpoint: CheckpointView })
  .meta({ id: 'CheckpointDetail' })

/** An agent at a point of its history, folded from the log: a checkpoint's members, and the agent's status. */
export const AgentAtPoint = CheckpointEntry.extend(content)
  .extend({
    runId: z.string(),
    agentId: z.string(),
    hash: z.string().meta({ description: 'Of the event at this point' }),
    machineState: MachineState,
    paused: z.boolean(),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    gatesPassed: z.array(z.string()).readonly(),
    permissions: z
      .array(PermissionView)
      .readonly()
      .meta({ description: 'What people have permitted beyond the policy' }),
    tasks: z.array(Task).readonly().meta({ description: 'The task graph, in the order in which tasks were added' }),
    tree: z.string().nullable().meta({ description: 'Version of the files; null: no workspace, or none kept' }),
    spec: AnyJson.meta({ description: 'What is in force: policy, limits, recovery, budget, role, models, tools' }),
  })
  .meta({ id: 'AgentAt' })

/** An agent at a point without its messages. The size does not grow with the history. */
export const AgentBriefAtPoint = AgentAtPoint.extend({
  state: content.state.omit({ messages: true }),
  writers: z
    .record(z.string(), z.strictObject({ agentId: z.string(), revision: count }))
    .meta({ description: 'The event that wrote each context variable' }),
}).meta({ id: 'AgentBriefAt' })
