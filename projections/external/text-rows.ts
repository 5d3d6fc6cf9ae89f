import type { StoredAgentEvent } from '../../domain/external/agent-event.ts'
import { answerParts, outputPart, type PartText, plainText, textRows } from '../agent/rows/texts.ts'
import type { TextKind } from '../agent/text-kinds.ts'
import type { Change } from '../engine/changes/change.ts'
import type { ProjectedExternal } from './event.ts'

/** Changes of `run_texts` by an event of an external run. */
export const externalTexts = (e: ProjectedExternal): Change[] => textRows(e, partsOf(e))

const KIND_OF: Readonly<Record<AgentEvent['kind'], TextKind>> = {
  TextOutput: 'answer',
  ToolCall: 'arguments',
  ToolResult: 'output',
  Status: 'message',
  Error: 'message',
  Unknown: 'message',
}
type AgentEvent = ReturnType<typeof StoredAgentEvent.parse>

function partsOf(e: ProjectedExternal): PartText[] {
  if (e.body === null) return []
  const { toolCallId: call } = e
  switch (e.type) {
    case 'external_started':
      return [{ kind: 'input', text: e.body.request.prompt }]
    case 'agent_events':
      return e.body.events.map(({ kind, text, message, data }) => ({
        kind: KIND_OF[kind],
        text: [text, message, plainText(data)].filter(Boolean).join('\n'),
      }))
    case 'permission_requested':
      return [
        {
          kind: 'arguments',
          text: [e.body.toolName, plainText(e.body.input), e.body.reason].join('\n'),
          toolCallId: e.body.toolCallId,
        },
      ]
    case 'tool_call_requested':
      return answerParts(e.body.content, () => call)
    case 'tool_call_end':
      return [outputPart(e.body, call)]
    case 'model_requested':
      return [{ kind: 'input', text: plainText(e.body.request.messages) }]
    case 'model_outcome':
      return [{ kind: 'answer', text: e.body.text ?? plainText(e.body.answer ?? e.body.error?.message) }]
    case 'transcript_mirrored':
      return [{ kind: 'message', text: plainText(e.body.entries) }]
    case 'spans_reported':
      return e.body.spans.map(({ name, attributes, events }) => ({
        kind: 'span',
        text: [name, plainText(attributes), plainText(events)].join('\n').trim(),
      }))
    case 'external_ended':
    case 'outcome_learned':
      return [{ kind: 'end', text: endOf(e.body) }]
    default:
      return []
  }
}

function endOf(outcome: Extract<ProjectedExternal, { type: 'external_ended' }>['body'] & {}): string {
  if (outcome.outcome === 'exited') return outcome.finalText ?? ''
  return outcome.outcome === 'failed' ? outcome.error.message : outcome.outcome === 'unknown' ? outcome.reason : ''
}
