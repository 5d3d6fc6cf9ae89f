import type { AgentEventBody } from '../../domain/external/agent-event.ts'
import { boundEvent } from '../../domain/external/bounds.ts'
import type { Json } from '../../domain/log/json.ts'
import type { EventView } from '../operations/events/schemas.ts'

type Payload = Readonly<Record<string, unknown>>

/**
 * Maps an event of keepup's own agent to events of the Universal Agent API, within its size limits. Empty: the event
 * has no equivalent. Deterministic.
 */
export const ownEvents = (view: EventView): AgentEventBody[] => mapped(view).flatMap(boundEvent)

function mapped({ type, payload, toolCallId }: EventView): AgentEventBody[] {
  const p: Payload = payload ?? {}
  const about = { id: toolCallId ?? '' }
  switch (type) {
    case 'agent_started':
      return [{ kind: 'Status', message: 'session started' }]
    case 'model_call_end':
      return (Array.isArray(p.content) ? (p.content as Payload[]) : []).flatMap(block)
    case 'tool_call_start':
      return [{ kind: 'ToolCall', data: { ...about, name: text(p.toolName), input: json(p.arguments) } }]
    case 'tool_call_end':
      return [
        { kind: 'ToolResult', data: { ...about, success: p.success === true, output: json(p.result ?? p.error) } },
      ]
    case 'approval_requested':
      return [{ kind: 'Status', message: 'waits for approval', data: about }]
    case 'completion':
      return [{ kind: 'Status', message: 'done' }]
    case 'error': {
      const message = `${text(p.code)}: ${text(p.error)}`
      return [{ kind: p.recoverable === true ? 'Status' : 'Error', message }]
    }
    default:
      return []
  }
}

function block(one: Payload): AgentEventBody[] {
  if (one.type === 'text' && text(one.text) !== '') return [{ kind: 'TextOutput', text: text(one.text) }]
  if (one.type === 'thinking') return [{ kind: 'Status', channel: 'thinking', text: text(one.thinking ?? one.text) }]
  return []
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const json = (value: unknown): Json => (value === undefined ? null : (value as Json))
