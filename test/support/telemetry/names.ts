/** Names in words of a text, each after a prefix. */
const named = (prefix: string, text: string): string[] =>
  text
    .trim()
    .split(/\s+/)
    .map((name) => `${prefix}${name}`)

/**
 * Names of the GenAI semantic conventions (docs/registry/attributes/gen-ai.md of
 * github.com/open-telemetry/semantic-conventions-genai, 2026-07-16) with the changes that its changelog.d announces, of
 * its page on MCP, and of OpenTelemetry's general conventions.
 */
export const CONVENTION: ReadonlySet<string> = new Set([
  ...named(
    'gen_ai.',
    `agent.description agent.id agent.name conversation.compacted conversation.id data_source.id
    evaluation.explanation evaluation.name evaluation.score.label evaluation.score.value input.messages
    memory.query.text memory.record.count memory.record.id memory.records memory.store.id operation.name
    output.messages output.type provider.name request.max_tokens request.model request.seed request.stop_sequences
    request.stream request.temperature request.top_k request.top_p response.finish_reasons response.id response.model
    response.time_to_first_chunk system_instructions tool.call.arguments tool.call.id tool.call.result
    tool.definitions tool.description tool.name tool.type usage.cache_creation.input_tokens workflow.name
    usage.cache_read.input_tokens usage.cache_write.input_tokens usage.input_tokens usage.output_tokens`,
  ),
  ...['mcp.method.name', 'error.type', 'session.id', 'user.id'],
])

/** Names of keepup, of OpenInference, and the name under which Langfuse reads a cost. */
export const OURS: ReadonlySet<string> = new Set([
  ...['openinference.span.kind', 'llm.cost.total', 'gen_ai.usage.cost'],
  ...named(
    'keepup.',
    `event_id stream revision attempt turn purpose open fork_of governed ran reused cached outcome_unknown
    usage_estimated rule cost.nano_dollars approval.by approval.method approval.decision`,
  ),
])
