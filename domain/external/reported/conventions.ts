import type { Json, JsonObject } from '../../log/json.ts'
import { nanosOf, reported } from '../usage.ts'
import type { Attributes, OtlpSpan } from './otlp-span.ts'
import { MODEL_OPERATIONS, type ModelOperation, type SpanKind, type SpanUsage } from './span.ts'
import { withCacheInInput } from './usage.ts'

// The attributes that name operations, models, tools and tokens, by convention: OpenTelemetry GenAI
// (github.com/open-telemetry/semantic-conventions-genai), OpenInference (github.com/Arize-ai/openinference) and the
// Vercel AI SDK. An attribute of the first convention counts before those of the others.

const OPERATIONS: Readonly<Record<string, SpanKind>> = {
  chat: 'model',
  text_completion: 'model',
  generate_content: 'model',
  embeddings: 'model',
  execute_tool: 'tool',
  create_agent: 'agent',
  invoke_agent: 'agent',
  invoke_workflow: 'agent',
}

const OPENINFERENCE: Readonly<Record<string, SpanKind>> = {
  LLM: 'model',
  EMBEDDING: 'model',
  TOOL: 'tool',
  AGENT: 'agent',
}

/** The calls of a provider below an operation of the AI SDK. The operation's own span repeats their sums. */
const AI_SDK_CALL = /\.(?:doGenerate|doStream|doEmbed)$/

/** The kind of operation that a span describes. */
export function kindOf(attributes: Attributes): SpanKind {
  const operation = textIn(attributes, 'gen_ai.operation.name')
  const span = textIn(attributes, 'openinference.span.kind')
  const aiSdk = textIn(attributes, 'ai.operationId')
  if (operation !== null) return OPERATIONS[operation] ?? 'other'
  if (span !== null) return OPENINFERENCE[span.toUpperCase()] ?? 'other'
  if (aiSdk !== null) return AI_SDK_CALL.test(aiSdk) ? 'model' : aiSdk === 'ai.toolCall' ? 'tool' : 'agent'
  if (textIn(attributes, 'gen_ai.tool.name') !== null) return 'tool'
  return textIn(attributes, 'gen_ai.request.model', 'gen_ai.response.model') === null ? 'other' : 'model'
}

/** The operation of a model call. Conventions other than GenAI tell only embeddings apart. */
export function operationOf(attributes: Attributes): ModelOperation {
  const named = textIn(attributes, 'gen_ai.operation.name')
  return MODEL_OPERATIONS.find((one) => one === named) ?? (isEmbedding(attributes) ? 'embeddings' : 'chat')
}

/** The model that answered, or else the requested one. */
export const modelOf = (attributes: Attributes): string | null =>
  textIn(
    attributes,
    ...['gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name', 'embedding.model_name'],
    ...['ai.response.model', 'ai.model.id'],
  )

export const toolOf = (attributes: Attributes): string | null =>
  textIn(attributes, 'gen_ai.tool.name', 'tool.name', 'ai.toolCall.name')

export const callIdOf = (attributes: Attributes): string | null =>
  textIn(attributes, 'gen_ai.tool.call.id', 'tool_call.id', 'ai.toolCall.id')

export const conversationOf = (attributes: Attributes): string | null =>
  textIn(attributes, 'gen_ai.conversation.id', 'session.id')

/** The tokens and the reported cost of a model call. An embedding has no output. Input includes the tokens of the cache. */
export function usageOf(attributes: Attributes): SpanUsage {
  const count = (...keys: readonly string[]) => reported(valueIn(attributes, keys))
  const output = count(
    ...['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion'],
    ...['ai.usage.outputTokens', 'ai.usage.completionTokens'],
  )
  const nanoDollars = nanosOf(valueIn(attributes, ['gen_ai.usage.cost', 'llm.cost.total']))
  return withCacheInInput({
    input: count(
      ...['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt'],
      ...['ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens'],
    ),
    output: output ?? (isEmbedding(attributes) ? 0 : null),
    cacheRead: count(
      ...['gen_ai.usage.cache_read.input_tokens', 'llm.token_count.prompt_details.cache_read'],
      'ai.usage.cachedInputTokens',
    ),
    cacheWrite: count(
      ...['gen_ai.usage.cache_write.input_tokens', 'gen_ai.usage.cache_creation.input_tokens'],
      'llm.token_count.prompt_details.cache_write',
    ),
    cost: nanoDollars === null ? null : { nanoDollars },
  })
}

const isEmbedding = (attributes: Attributes): boolean =>
  attributes['gen_ai.operation.name'] === 'embeddings' ||
  textIn(attributes, 'openinference.span.kind')?.toUpperCase() === 'EMBEDDING' ||
  textIn(attributes, 'ai.operationId')?.endsWith('.doEmbed') === true

/** Why an operation failed; null: it did not. A status "ok" of the program counts more than an `error.type`. */
export function errorOf({ attributes, status, events }: OtlpSpan): { type: string; message?: string } | null {
  const type = textIn(attributes, 'error.type')
  if (status.code === 1 || (status.code !== 2 && type === null)) return null
  const thrown = events.find(({ name }) => name === 'exception')?.attributes ?? {}
  const message = status.message || textIn(thrown, 'exception.message')
  return { type: type ?? textIn(thrown, 'exception.type') ?? 'error', ...(message && { message }) }
}

/** The text that an operation was given; null: the span has no content. */
export const inputText = (attributes: Attributes): string | null =>
  messageText(valueIn(attributes, ['gen_ai.input.messages']), 'user') ??
  textIn(attributes, 'input.value', 'gen_ai.tool.call.arguments', 'ai.toolCall.args', 'ai.prompt')

/** The text that an operation answered; null: the span has no content. */
export const outputText = (attributes: Attributes): string | null =>
  messageText(valueIn(attributes, ['gen_ai.output.messages']), 'assistant') ??
  textIn(attributes, 'output.value', 'gen_ai.tool.call.result', 'ai.toolCall.result', 'ai.response.text')

/** The last text of a role in `[{role, parts: [{type: 'text', content}]}]`, which may be JSON in a string. */
function messageText(value: Json | undefined, role: string): string | null {
  const messages = typeof value === 'string' ? parsed(value) : value
  if (!Array.isArray(messages)) return null
  const own = messages.filter((one): one is JsonObject => isObject(one) && one.role === role).at(-1)
  const parts = Array.isArray(own?.parts) ? own.parts : []
  const texts = parts.flatMap((part) => (isObject(part) && typeof part.content === 'string' ? [part.content] : []))
  return texts.length === 0 ? null : texts.join('\n')
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

const valueIn = (attributes: Attributes, keys: readonly string[]): Json | undefined =>
  keys.map((key) => (Object.hasOwn(attributes, key) ? attributes[key] : undefined)).find((value) => value !== undefined)

function textIn(attributes: Attributes, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = valueIn(attributes, [key])
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

const isObject = (value: Json): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
