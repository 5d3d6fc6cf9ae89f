import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import { nanosOf, type ReportedUsage, reportedTokens } from '../../../domain/external/usage.ts'
import type { Json } from '../../../domain/log/json.ts'
import { SaidText, SeenIds } from '../cli/bounded-memory.ts'
import { object, textPiece, toolCall, toolResult } from '../cli/json-fields.ts'

/** The most pending calls at a time. A further call is reported at once, even if its input is incomplete. */
const MAX_PENDING = 1_000

/** The most calls whose differences are kept. Each may contain whole files. */
const MAX_DIFFS = 16
/** The longest files that are compared, in UTF-16 code units together, and the most differences between them. */
const LONGEST = 400_000
const MOST_DIFFERENCES = 1_000

type Difference = Extract<ToolCallContent, { type: 'diff' }>

/** Maps the updates of one session. A tool call gives one event when it begins and one when it ends. */
export class UpdateMapping {
  readonly #begun = new SeenIds()
  readonly #ended = new SeenIds()
  readonly #said = new SaidText()
  #nanos: number | null = null
  /** The id of the message to which the last chunk belongs. Null: the agent gives none. Undefined: no chunk yet. */
  #message: string | null | undefined
  readonly #pending = new Map<string, ToolCallUpdate>()
  /** The differences of calls that have not ended. */
  readonly #diffs = new Map<string, readonly Difference[]>()

  /** The text after the last tool call. */
  get finalText(): string | null {
    return this.#said.text
  }

  map(update: SessionUpdate): AgentEventBody[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return update.content.type === 'text'
          ? this.#say(update.content.text, update.messageId)
          : [content(update.content.type)]
      case 'agent_thought_chunk':
        return update.content.type === 'text'
          ? [{ kind: 'Status', channel: 'thinking', text: update.content.text }]
          : [content(update.content.type)]
      case 'tool_call':
      case 'tool_call_update':
        return this.#waits(update) ? [] : this.tool(update)
      case 'plan':
        return [{ kind: 'Status', message: 'plan', data: { entries: json(update.entries) } }]
      case 'usage_update':
        if (update.cost?.currency === 'USD') this.#nanos = nanosOf(update.cost.amount)
        return []
      case 'user_message_chunk':
      case 'available_commands_update':
      case 'current_mode_update':
      case 'config_option_update':
      case 'session_info_update':
        return []
      default:
        return [{ kind: 'Unknown', message: 'an update of an unknown type' }]
    }
  }

  /** The events of a tool call. A permission request or an end may be the first update about a call. */
  tool(update: ToolCallUpdate): AgentEventBody[] {
    const { toolCallId: id, status } = update
    this.#see(update)
    const told: AgentEventBody[] = []
    if (this.#begun.add(id)) {
      const known = { ...this.#pending.get(id), ...given(update) }
      this.#pending.delete(id)
      this.#said.clear()
      told.push(toolCall(id, known.name ?? known.title ?? known.kind ?? '', callInputOf(known)))
    }
    if ((status !== 'completed' && status !== 'failed') || !this.#ended.add(id)) return told
    const patch = patchOf(this.#diffs.get(id) ?? [])
    this.#diffs.delete(id)
    return [...told, toolResult(id, status === 'completed', outputOf(update), patch)]
  }

  /** Keeps the differences of a call. Its end usually reports them, and some agents report them only at its beginning. */
  #see({ toolCallId: id, content: parts }: ToolCallUpdate): void {
    const diffs = (parts ?? []).filter((part) => part.type === 'diff')
    if (diffs.length === 0) return
    this.#diffs.delete(id)
    this.#diffs.set(id, diffs)
    if (this.#diffs.size > MAX_DIFFS) this.#diffs.delete(this.#diffs.keys().next().value!)
  }

  /** A pending call is reported only when it begins: before that its input may be incomplete. */
  #waits(update: ToolCallUpdate & { readonly sessionUpdate: string }): boolean {
    const { toolCallId: id, status, sessionUpdate } = update
    const before = this.#pending.get(id)
    const pending = status === 'pending' || (!status && (sessionUpdate === 'tool_call' || before !== undefined))
    if (pending) this.#see(update)
    if (!pending || (before === undefined && this.#pending.size >= MAX_PENDING)) return false
    this.#pending.set(id, { ...before, ...given(update) })
    return true
  }

  /**
   * The usage in the answer to the prompt; null if the agent reports none. Some agents put token counts there. The cost
   * is that of the session.
   */
  usage(meta: unknown): ReportedUsage | null {
    const count = object(object(object(meta).quota).token_count)
    const told = count.input_tokens !== undefined && count.output_tokens !== undefined
    if (!told && this.#nanos === null) return null
    const inputTokens = told ? reportedTokens(count.input_tokens) : null
    const outputTokens = told ? reportedTokens(count.output_tokens) : null
    const cost = this.#nanos === null ? null : ({ nanoDollars: this.#nanos, scope: 'session' } as const)
    return { scope: 'run', inputTokens, cachedInputTokens: null, outputTokens, cost }
  }

  /** A chunk with the id of another message begins a text. Without an id nothing says what the first chunk is. */
  #say(text: string, messageId: string | null | undefined): AgentEventBody[] {
    this.#said.add(text)
    const [before, id] = [this.#message, messageId ?? null]
    this.#message = id
    const { continues: _, ...piece } = textPiece(text)
    return [before === undefined && id === null ? piece : { ...piece, continues: id === before }]
  }
}

/** The members that an update sets. Null and absent members do not change the known values. */
const given = (update: ToolCallUpdate): ToolCallUpdate =>
  Object.fromEntries(
    Object.entries(update).filter(([, value]) => value !== null && value !== undefined),
  ) as ToolCallUpdate

const content = (type: string): AgentEventBody => ({ kind: 'Unknown', message: `content of type ${type}` })

const json = (value: unknown): Json => (value === undefined ? null : (value as Json))

/**
 * The raw input of a tool call, or the kind, locations and content that the agent shows instead, such as a file's
 * change.
 */
export function callInputOf({ rawInput, kind, locations, content: parts }: ToolCallUpdate): Json {
  if (rawInput !== undefined && rawInput !== null) return rawInput as Json
  const shown = { kind, locations, content: parts }
  // The round trip removes absent and null members.
  return JSON.parse(JSON.stringify(shown, (_, value) => value ?? undefined)) as Json
}

/** The raw output of a tool call, or the text of its content. */
function outputOf({ rawOutput, content: parts }: ToolCallUpdate): Json {
  if (rawOutput !== undefined && rawOutput !== null) return rawOutput as Json
  return (parts ?? []).flatMap(textOf).join('\n')
}

function textOf(part: ToolCallContent): string[] {
  if (part.type === 'content') return part.content.type === 'text' ? [part.content.text] : []
  return part.type === 'diff' ? [`changed ${part.path}`] : []
}

/** A unified diff of the files. A file that is too long to compare is left out. */
const patchOf = (diffs: readonly Difference[]): string =>
  diffs
    .map(({ path, oldText, newText }) => {
      const before = oldText ?? ''
      if (before.length + newText.length > LONGEST) return ''
      const options = { context: 3, maxEditLength: MOST_DIFFERENCES, headerOptions: FILE_HEADERS_ONLY }
      return createTwoFilesPatch(path, path, before, newText, undefined, undefined, options) ?? ''
    })
    .join('')
