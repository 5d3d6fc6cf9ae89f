import type { PlanEntry, SessionUpdate } from '@agentclientprotocol/sdk'
import type { Block } from '../../../domain/calls/content.ts'
import type { EventView, Payload } from '../../operations/events/schemas.ts'
import { shownCall } from './tool-calls.ts'

/** An event whose body is not erased. */
type Kept = Extract<EventView, { readonly payload: object }>

/** Calls whose text the editor shows instead of a tool call. */
const SPOKEN: ReadonlySet<string> = new Set(['complete_task', 'ask_user', 'advance_phase'])

/**
 * Maps the events of one run to ACP session updates: text, thoughts, calls, and a role's phases as the plan. `history`:
 * also map the user's messages, for a loaded session. Of agents below the root, only calls are mapped.
 */
export class RunUpdates {
  readonly #runId: string
  readonly #history: boolean
  #folder: string | null = null
  #phases: readonly string[] = []

  constructor(runId: string, { folder, history }: { folder: string | null; history: boolean }) {
    this.#runId = runId
    this.#folder = folder
    this.#history = history
  }

  map(event: EventView): SessionUpdate[] {
    if (event.payload === null) return []
    return event.stream === `agent-${this.#runId}` ? this.#ofRoot(event) : this.#call(event)
  }

  #ofRoot(event: Kept): SessionUpdate[] {
    const { type, payload: p } = event
    switch (type) {
      case 'agent_started':
        return this.#started(p)
      case 'user_input':
        return this.#history ? [chunk('user_message_chunk', p.text)] : []
      case 'model_call_end':
        return p.content.flatMap(said)
      case 'phase_advanced':
        return this.#plan(p.to)
      case 'completion':
        return [...(this.#phases.length > 0 ? this.#plan(null) : []), chunk('agent_message_chunk', p.summary)]
      case 'error':
        return p.recoverable
          ? [chunk('agent_thought_chunk', `the model's attempt failed: ${p.code} ${p.error}`)]
          : [chunk('agent_message_chunk', `${p.code}: ${p.error}`)]
      default:
        return this.#call(event)
    }
  }

  /** A call whose start is not yet an intent is pending until the intent follows. */
  #call({ type, toolCallId: id, payload: p }: Kept): SessionUpdate[] {
    if (id === undefined) return []
    if (type === 'tool_call_intent')
      return [{ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'in_progress' }]
    if (type === 'tool_call_start') {
      if (p.toolName === 'ask_user') return [chunk('agent_message_chunk', p.arguments?.question)]
      if (SPOKEN.has(p.toolName)) return []
      const call = shownCall({ id, tool: p.toolName, input: p.arguments }, this.#folder)
      return [{ sessionUpdate: 'tool_call', ...call, status: p.intent ? 'in_progress' : 'pending' }]
    }
    if (type !== 'tool_call_end' || SPOKEN.has(p.toolName)) return []
    const rawOutput = p.success ? p.result : p.error
    const text = typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput, null, 2)
    const status = p.success ? 'completed' : 'failed'
    const content = [{ type: 'content' as const, content: { type: 'text' as const, text: text ?? '' } }]
    return [{ sessionUpdate: 'tool_call_update', toolCallId: id, status, rawOutput, content }]
  }

  #started({ spec: { role, workspace } }: Payload<'agent_started'>): SessionUpdate[] {
    this.#folder = workspace?.path ?? this.#folder
    this.#phases = (role?.phases ?? []).map(({ name }) => name)
    return this.#phases.length === 0 ? [] : this.#plan(this.#phases[0]!)
  }

  /** `now`: the agent's current phase. Null: all phases are complete. */
  #plan(now: string | null): SessionUpdate[] {
    const at = now === null ? this.#phases.length : this.#phases.indexOf(now)
    if (at < 0) return []
    const entries = this.#phases.map((content, i): PlanEntry => {
      return { content, priority: 'medium', status: i < at ? 'completed' : i === at ? 'in_progress' : 'pending' }
    })
    return [{ sessionUpdate: 'plan', entries }]
  }
}

function said(block: Block): SessionUpdate[] {
  if (block.type === 'text' && block.text !== '') return [chunk('agent_message_chunk', block.text)]
  if (block.type === 'thinking' && block.thinking) return [chunk('agent_thought_chunk', block.thinking)]
  return []
}

type Chunk = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk'

/** The editor concatenates chunks of one kind, so each chunk ends its paragraph. */
const chunk = (sessionUpdate: Chunk, text: unknown): SessionUpdate => ({
  sessionUpdate,
  content: { type: 'text', text: `${typeof text === 'string' ? text : ''}\n\n` },
})
