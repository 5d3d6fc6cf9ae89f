import type { Block } from '../../../domain/calls/content.ts'
import type { ModelRequest } from '../../../domain/ports/index.ts'
import { type Section, safeName, sections, wireArguments } from '../transcript.ts'
import type { Params, WireCall, WireMessage } from './wire.ts'

/**
 * A model request as chat completions. `official`: for OpenAI's own servers, which know `max_completion_tokens` and
 * refuse unknown members. Other servers get the older, common form.
 */
export function openAiParams(request: ModelRequest, official: boolean): Params {
  const system: WireMessage[] = request.system.trim() === '' ? [] : [{ role: 'system', content: request.system }]
  return {
    model: request.model,
    stream: true,
    stream_options: { include_usage: true },
    ...(official ? { max_completion_tokens: request.maxOutputTokens } : { max_tokens: request.maxOutputTokens }),
    messages: [...system, ...sections(request.messages).flatMap((part) => toMessages(part, official))],
    ...(request.tools.length === 0 ? {} : toolParams(request)),
  }
}

function toolParams(request: ModelRequest): Partial<Params> {
  const choice = request.toolChoice
  return {
    tools: request.tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters: parameters as Record<string, unknown> },
    })),
    tool_choice:
      typeof choice === 'object'
        ? { type: 'function', function: { name: choice.name } }
        : choice === 'any'
          ? 'required'
          : 'auto',
    // The o-series answers 400 to this parameter.
    ...(request.parallelCalls || /^o\d/.test(request.model) ? {} : { parallel_tool_calls: false }),
  }
}

function toMessages(part: Section, official: boolean): WireMessage[] {
  if (part.role === 'assistant') return toAssistant(part.blocks, official)
  const results = part.results.map(
    (r): WireMessage => ({
      role: 'tool',
      tool_call_id: r.callId,
      content: r.isError ? `Error: ${r.content || '(no message)'}` : r.content,
    }),
  )
  return part.texts.length === 0 ? results : [...results, { role: 'user', content: part.texts.join('\n\n') }]
}

function toAssistant(blocks: readonly Block[], official: boolean): WireMessage[] {
  const text = blocks.flatMap((b) => (b.type === 'text' && typeof b.text === 'string' && b.text !== '' ? [b.text] : []))
  const calls = blocks.filter((b) => b.type === 'tool_use').map(toCall)
  if (text.length === 0 && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: text.length === 0 ? null : text.join('\n'),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(official ? {} : reasoning(blocks)),
    },
  ]
}

/**
 * A call with its original argument text if that is an object. Some servers parse the history and fail on other text.
 */
function toCall(block: Block): WireCall {
  const args = wireArguments(block)
  const raw = block.input_text
  const verbatim = typeof raw === 'string' && raw.trim() !== '' && !('raw_arguments' in args)
  return {
    type: 'function',
    id: String(block.id),
    function: { name: safeName(block.name), arguments: verbatim ? raw : JSON.stringify(args) },
  }
}

/** The reasoning under its original member name. Some servers need it in the next request of the same turn. */
function reasoning(blocks: readonly Block[]): Record<string, string> {
  const out: Record<string, string> = {}
  for (const block of blocks) {
    if (block.type !== 'reasoning' || typeof block.text !== 'string') continue
    out[block.member === 'reasoning' ? 'reasoning' : 'reasoning_content'] = block.text
  }
  return out
}
