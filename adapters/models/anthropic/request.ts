import type Anthropic from '@anthropic-ai/sdk'
import type { Block } from '../../../domain/calls/content.ts'
import type { ModelRequest } from '../../../domain/ports/index.ts'
import { bindsThinking } from '../claude.ts'
import { type Section, safeName, sections, wireArguments } from '../transcript.ts'

type Params = Anthropic.Beta.Messages.MessageCreateParamsStreaming
type Content = Anthropic.Beta.Messages.BetaContentBlockParam
type WireMessage = { role: 'user' | 'assistant'; content: Content[] }

const CACHE = { cache_control: { type: 'ephemeral' } } as const

/**
 * A model request in the form of Anthropic's Messages API. Sets the four allowed cache marks: on the last tool, on the
 * system prompt, and on the last two user messages. A growing conversation is thus read from the cache up to the
 * previous call, and the rest is written to it.
 */
export function anthropicParams(request: ModelRequest): Params {
  const messages = toMessages(sections(request.messages))
  markForCache(messages)
  const free = request.tools.length === 0 || request.toolChoice === 'auto'
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    ...(request.system.trim() === '' ? {} : { system: [{ type: 'text', text: request.system, ...CACHE }] }),
    messages,
    ...(request.tools.length === 0 ? {} : { tools: toTools(request), tool_choice: toChoice(request) }),
    // Phases change the tools, and compression changes the history. Without this option the model would answer 400 to
    // both.
    ...(free && bindsThinking(request.model) ? KEEP_GOING : {}),
  }
}

const KEEP_GOING = {
  betas: ['thinking-binding-controls-2026-08-01'],
  thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
} satisfies Partial<Params>

function toTools(request: ModelRequest): Anthropic.Beta.Messages.BetaTool[] {
  return request.tools.map((tool, index) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.parameters as Anthropic.Beta.Messages.BetaTool.InputSchema,
    ...(index === request.tools.length - 1 ? CACHE : {}),
  }))
}

function toChoice(request: ModelRequest): Anthropic.Beta.Messages.BetaToolChoice {
  const single = request.parallelCalls ? {} : { disable_parallel_tool_use: true }
  if (typeof request.toolChoice === 'object') return { type: 'tool', name: request.toolChoice.name, ...single }
  return { type: request.toolChoice, ...single }
}

function toMessages(parts: readonly Section[]): WireMessage[] {
  return parts
    .map((part): WireMessage => {
      if (part.role === 'assistant') return { role: 'assistant', content: part.blocks.flatMap(toContent) }
      const results = part.results.map((r): Content => {
        // The API refuses an error without text.
        const text = r.content === '' && r.isError ? '(no message)' : r.content
        return {
          type: 'tool_result',
          tool_use_id: r.callId,
          ...(text === '' ? {} : { content: text }),
          ...(r.isError ? { is_error: true } : {}),
        }
      })
      return { role: 'user', content: [...results, ...part.texts.map((text): Content => ({ type: 'text', text }))] }
    })
    .filter((message) => message.content.length > 0)
}

const sent = (block: object): Content[] => [block as Content]

/** A block as received. Drops blocks that the API would refuse: those of other providers, and blank text. */
function toContent(block: Block): Content[] {
  switch (block.type) {
    case 'script':
    case 'reasoning':
      return []
    case 'text':
      return typeof block.text === 'string' && block.text.trim() !== '' ? sent(block) : []
    case 'thinking':
      return typeof block.signature === 'string' && block.signature !== '' ? sent(block) : []
    case 'tool_use': {
      const { input_text: _, ...rest } = block
      return sent({ ...rest, name: safeName(block.name), input: wireArguments(block) })
    }
    default:
      return sent(block)
  }
}

function markForCache(messages: WireMessage[]): void {
  let marks = 2
  for (let i = messages.length - 1; i >= 0 && marks > 0; i -= 1) {
    const message = messages[i]!
    if (message.role !== 'user') continue
    const last = message.content.length - 1
    message.content[last] = { ...message.content[last]!, ...CACHE } as Content
    marks -= 1
  }
}
