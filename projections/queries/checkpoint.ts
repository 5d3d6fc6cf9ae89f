import { callArguments, type Message } from '../../domain/agent/events/content.ts'
import type { ToolCall, ToolResult } from '../../domain/agent/state/point-details.ts'
import type { Json, JsonObject } from '../../domain/log/json.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import { ProjectionError } from '../errors.ts'
import type { CallRef, CheckpointFacts, CheckpointRow } from './checkpoints.ts'
import { readEvent } from './events.ts'

export type { ToolCall, ToolResult }

/** Seed 000, 5.5; 003: `pendingCreates`, the files that the step has created. `cost` in dollars, beside nano-dollars. */
export interface Checkpoint {
  readonly id: string
  readonly threadId: string
  readonly step: number
  readonly timestamp: string
  readonly state: {
    readonly messages: readonly Message[]
    readonly sopPhase: string
    readonly contextVariables: Record<string, unknown>
  }
  readonly pendingToolCalls: readonly ToolCall[]
  readonly completedToolResults: readonly ToolResult[]
  readonly pendingCreates: readonly string[]
  readonly usage: CheckpointUsage
}

export interface CheckpointUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number
  readonly nanoDollars: number
}

export interface CheckpointSources {
  readonly log: EventLog
  readonly blobs: BlobStore
  /** The messages that the model would see at a revision of an agent. */
  messagesAt(agentId: string, revision: number): Promise<readonly Message[]>
}

/**
 * The seed's whole interface of a checkpoint, from its row and facts (queries/checkpoints.ts, read in one answer); messages
 * and bodies are read from the log, so this is done outside of it.
 */
export async function assembleCheckpoint(
  sources: CheckpointSources,
  row: CheckpointRow,
  facts: CheckpointFacts,
): Promise<Checkpoint> {
  const { phase, variables, calls, usage, created } = facts
  const pending = calls.filter((call) => call.ended_agent === null)
  const completed = calls.filter((call) => call.ended_agent !== null)
  return {
    id: row.id,
    threadId: row.agent_id,
    step: row.step,
    timestamp: row.timestamp,
    state: {
      messages: await sources.messagesAt(row.agent_id, row.revision),
      sopPhase: phase,
      contextVariables: Object.fromEntries(variables.map(({ name, value }) => [name, JSON.parse(value) as unknown])),
    },
    pendingToolCalls: await Promise.all(pending.map((call) => pendingOf(sources, call))),
    completedToolResults: await Promise.all(completed.map((call) => resultOf(sources, call))),
    pendingCreates: created,
    usage: { ...usage, cost: usage.nanoDollars / 1e9 },
  }
}

async function pendingOf(sources: CheckpointSources, call: CallRef): Promise<ToolCall> {
  const { requested_agent: agent, requested_revision: revision, block } = call
  return { id: call.id, name: call.tool_name ?? '', arguments: await argumentsOf(sources, agent, revision, block) }
}

/**
 * The arguments that the model gave a call, from the answer that asked for it (`requested_revision` and `block` of its
 * row); null: none known, no JSON object, or erased.
 */
export async function argumentsOf(
  sources: Pick<CheckpointSources, 'log' | 'blobs'>,
  agentId: string | null,
  revision: number | null,
  block: number | null,
): Promise<JsonObject | null> {
  if (agentId === null || revision === null || block === null) return null
  // The tables may have seen what the log has lost since.
  const event = await readEvent(sources, agentId, revision).catch(unlessFound)
  if (event === null) return null
  const asked = event.type === 'model_call_end' ? event.body?.content[block] : undefined
  return asked ? callArguments(asked) : null
}

const unlessFound = (error: unknown): null => {
  if (error instanceof ProjectionError && error.code === 'NOT_FOUND') return null
  throw error
}

async function resultOf(sources: CheckpointSources, call: CallRef): Promise<ToolResult> {
  const event = await readEvent(sources, call.ended_agent!, call.ended_revision!)
  const name = call.tool_name ?? ''
  if (event.type !== 'tool_call_end' || !event.body) return { toolCallId: call.id, name, success: null, erased: true }
  const { success, result, error } = event.body
  return {
    toolCallId: call.id,
    name,
    success,
    ...(result === undefined ? {} : { result: result as Json }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  }
}
