import type { StoredType } from '../../../domain/kinds.ts'
import type { EventView, Payload } from '../events/schemas.ts'
import type { AgUiEvent, AgUiMessage } from './schemas.ts'
import { TokenUsages } from './token-usage.ts'
import { Transcript } from './transcript.ts'

/** An event whose body is not erased. */
type Kept = Extract<EventView, { readonly payload: object }>

/** Calls whose text the client shows in place of a call. */
const SPOKEN: ReadonlySet<string> = new Set(['complete_task', 'ask_user'])

/** Further facts that clients get, as CUSTOM events with the name `keepup.<type>`. */
const FACTS: ReadonlySet<StoredType> = new Set<StoredType>([
  ...(['approval_decided', 'approval_expired', 'artifact_registered', 'gate_checked', 'phase_advanced'] as const),
  ...(['paused', 'resumed', 'recovery', 'tool_call_retry', 'tool_call_unknown', 'tool_call_resolved'] as const),
  ...(['context_compressed', 'user_input'] as const),
])

interface Streamed {
  readonly id: string
  readonly turn: number
  text: string
}

/**
 * Maps the events of one run to AG-UI. Agents below the root are subagents. The id of a message derives from agent and
 * turn, so a repeated stream has the same ids.
 */
export class RunEvents {
  readonly #runId: string
  readonly #transcript: Transcript
  readonly usages: TokenUsages
  /** The model that each agent asked last. */
  readonly #asked = new Map<string, string>()
  /** The open step of each agent. */
  readonly #steps = new Map<string, string>()
  readonly #subagents = new Set<string>()
  /** Messages whose text arrives live, by agent. */
  readonly #streamed = new Map<string, Streamed>()
  /** The text of messages that ended before their answer was recorded, by id. */
  readonly #ended = new Map<string, string>()
  /** The last turn of each agent whose answer is recorded. Live text of these turns comes too late. */
  readonly #answered = new Map<string, number>()

  /** `before`: the conversation that the client has. */
  constructor(runId: string, before: readonly AgUiMessage[], providers: ReadonlyMap<string, string>) {
    this.#runId = runId
    this.#transcript = new Transcript(before)
    this.usages = new TokenUsages(providers)
  }

  /** Maps a recorded event. */
  map(view: EventView): AgUiEvent[] {
    if (!view.stream.startsWith('agent-') || view.payload === null) return []
    const agent = view.stream.slice('agent-'.length)
    const { id: eventId, revision, cursor, timestamp } = view
    const metadata = { keepup: { runId: this.#runId, agentId: agent, eventId, revision, cursor } }
    return [...this.#meet(agent, view), ...this.#of(agent, view)].map((event) => {
      return { timestamp: Date.parse(timestamp), metadata, ...event }
    })
  }

  /** Maps live text of a model. */
  text(agent: string, turn: number, delta: string): AgUiEvent[] {
    if (turn <= (this.#answered.get(agent) ?? 0)) return []
    const open = this.#streamed.get(agent)
    // A message cannot be continued after the next one has begun; the recorded answer settles it.
    if (open !== undefined && turn < open.turn) return []
    const events: AgUiEvent[] = []
    if (open !== undefined && open.turn !== turn) {
      this.#ended.set(open.id, open.text)
      events.push(...this.#endText(agent))
    }
    if (open?.turn === turn) open.text += delta
    else {
      const id = messageId(agent, turn)
      this.#streamed.set(agent, { id, turn, text: delta })
      if (agent !== this.#runId && !this.#subagents.has(agent)) events.push(this.#subagent(agent, {}))
      events.push({ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant', ...this.#by(agent) })
    }
    if (delta !== '')
      events.push({ type: 'TEXT_MESSAGE_CONTENT', messageId: messageId(agent, turn), delta, ...this.#by(agent) })
    return events
  }

  /** Closes all that is open, before the last event of the stream. */
  close(): AgUiEvent[] {
    const texts = [...this.#streamed.keys()].flatMap((agent) => this.#endText(agent))
    const steps = [...this.#steps.keys()].flatMap((agent) => this.#endStep(agent))
    const subagents = [...this.#subagents].map((subagentRunId): AgUiEvent => {
      return { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' } }
    })
    return [...texts, ...steps, ...subagents]
  }

  /** A subagent begins with its first event in this stream: an earlier request may have seen its birth. */
  #meet(agent: string, view: Kept): AgUiEvent[] {
    if (agent === this.#runId || this.#subagents.has(agent) || this.#answered.get(agent) === ENDED) return []
    return [this.#subagent(agent, view.type === 'agent_started' ? view.payload : {})]
  }

  #subagent(agent: string, { spec, parent }: Partial<Payload<'agent_started'>>): AgUiEvent {
    this.#subagents.add(agent)
    const { agentId, toolCallId } = parent ?? {}
    return {
      type: 'SUBAGENT_STARTED',
      subagentRunId: agent,
      name: spec?.role?.name ?? agent,
      ...(toolCallId !== undefined && { parentToolCallId: toolCallId }),
      ...(agentId !== undefined && agentId !== this.#runId && { parentSubagentRunId: agentId }),
    }
  }

  #of(agent: string, view: Kept): AgUiEvent[] {
    const { type, payload: p, turn } = view
    switch (type) {
      case 'turn_start': {
        this.#steps.set(agent, `turn ${turn}`)
        return [{ type: 'STEP_STARTED', stepName: `turn ${turn}`, ...this.#by(agent) }]
      }
      case 'turn_end':
        return this.#endStep(agent)
      case 'model_call_start':
        this.#asked.set(agent, p.model)
        return []
      case 'model_call_end':
        this.usages.add(p, this.#asked.get(agent) ?? p.servedBy)
        return p.purpose === 'turn' ? this.#answer(agent, turn, p) : []
      case 'model_late':
        this.usages.add(p, this.#asked.get(agent) ?? p.servedBy)
        return []
      case 'tool_call_start':
        return this.#call(agent, view, p)
      case 'tool_call_end':
        return this.#result(agent, view, p)
      case 'context_set':
        if (agent !== this.#runId) return []
        return [{ type: 'STATE_DELTA', delta: [{ op: 'add', path: `/${pointer(p.key)}`, value: p.value }] }]
      case 'completion':
        return [...this.#message(agent, `${agent}.summary`, p.summary), ...this.#end(agent, null)]
      case 'error':
        if (!p.recoverable) return this.#end(agent, p)
        return [{ type: 'CUSTOM', name: 'keepup.error', value: p, ...this.#by(agent) }]
      default:
        return FACTS.has(type) ? [{ type: 'CUSTOM', name: `keepup.${type}`, value: p, ...this.#by(agent) }] : []
    }
  }

  /** The recorded answer settles the message: the client may have missed text, or seen that of a failed attempt. */
  #answer(agent: string, turn: number, { content }: Payload<'model_call_end'>): AgUiEvent[] {
    const id = messageId(agent, turn)
    const text = content.map((block) => (block.type === 'text' ? String(block.text) : '')).join('')
    const open = this.#streamed.get(agent)
    const shown = open?.turn === turn ? open : undefined
    const ended = this.#ended.get(id)
    this.#ended.delete(id)
    this.#answered.set(agent, turn)
    const reasoning = content.flatMap((block, n) => this.#reasoning(agent, `${id}.r${n}`, block))
    if (ended !== undefined) return [...reasoning, ...(ended === text ? [] : this.#replaced(agent, id, text))]
    if (shown === undefined) return [...reasoning, ...(text === '' ? [] : this.#message(agent, id, text))]
    const rest = text.startsWith(shown.text) ? text.slice(shown.text.length) : null
    if (rest !== null) shown.text = text
    const more: AgUiEvent[] = rest
      ? [{ type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: rest, ...this.#by(agent) }]
      : []
    const settled = [...more, ...this.#endText(agent), ...reasoning]
    return rest !== null ? settled : [...settled, ...this.#replaced(agent, id, text)]
  }

  /** Replaces the text of a message that the client has. */
  #replaced(agent: string, id: string, text: string): AgUiEvent[] {
    this.#transcript.text(id, text, this.#by(agent).subagentRunId)
    // A snapshot without the open messages would take them from the client.
    for (const [other, open] of this.#streamed) this.#transcript.text(open.id, open.text, this.#by(other).subagentRunId)
    return [{ type: 'MESSAGES_SNAPSHOT', messages: this.#transcript.messages }]
  }

  #reasoning(agent: string, id: string, block: Payload<'model_call_end'>['content'][number]): AgUiEvent[] {
    if (block.type !== 'thinking' || typeof block.thinking !== 'string' || block.thinking === '') return []
    const of = { messageId: id, ...this.#by(agent) }
    this.#transcript.add({ id, role: 'reasoning', content: block.thinking, ...this.#by(agent) })
    return [
      { type: 'REASONING_START', ...of },
      { type: 'REASONING_MESSAGE_START', role: 'reasoning', ...of },
      { type: 'REASONING_MESSAGE_CONTENT', delta: block.thinking, ...of },
      { type: 'REASONING_MESSAGE_END', ...of },
      { type: 'REASONING_END', ...of },
    ]
  }

  #call(agent: string, view: Kept, p: Payload<'tool_call_start'>): AgUiEvent[] {
    const { toolCallId, turn } = view
    if (toolCallId === undefined) return []
    const by = this.#by(agent)
    if (SPOKEN.has(p.toolName)) {
      const { question } = (p.arguments ?? {}) as { question?: unknown }
      return p.toolName === 'ask_user' ? this.#message(agent, `${toolCallId}.question`, String(question ?? '')) : []
    }
    const text = JSON.stringify(p.arguments ?? {})
    const parentMessageId = messageId(agent, turn)
    const call = { id: toolCallId, type: 'function' as const, function: { name: p.toolName, arguments: text } }
    this.#transcript.call(parentMessageId, call, by.subagentRunId)
    return [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: p.toolName, parentMessageId, ...by },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: text, ...by },
      { type: 'TOOL_CALL_END', toolCallId, ...by },
    ]
  }

  #result(agent: string, { toolCallId }: Kept, p: Payload<'tool_call_end'>): AgUiEvent[] {
    if (toolCallId === undefined || SPOKEN.has(p.toolName)) return []
    const result = p.success ? p.result : p.error
    const content = typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
    const of = { toolCallId, content, role: 'tool' as const, ...this.#by(agent) }
    const { success, error } = p
    const message = success || error === undefined ? of : { ...of, error: error.message }
    this.#transcript.add({ id: `${toolCallId}.result`, ...message })
    return [{ type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}.result`, ...of }]
  }

  #message(agent: string, id: string, text: string): AgUiEvent[] {
    const of = { messageId: id, ...this.#by(agent) }
    this.#transcript.text(id, text, this.#by(agent).subagentRunId)
    return [
      { type: 'TEXT_MESSAGE_START', role: 'assistant', ...of },
      ...(text === '' ? [] : [{ type: 'TEXT_MESSAGE_CONTENT' as const, delta: text, ...of }]),
      { type: 'TEXT_MESSAGE_END', ...of },
    ]
  }

  #endText(agent: string): AgUiEvent[] {
    const open = this.#streamed.get(agent)
    if (open === undefined) return []
    this.#streamed.delete(agent)
    this.#transcript.text(open.id, open.text, this.#by(agent).subagentRunId)
    return [{ type: 'TEXT_MESSAGE_END', messageId: open.id, ...this.#by(agent) }]
  }

  #endStep(agent: string): AgUiEvent[] {
    const stepName = this.#steps.get(agent)
    this.#steps.delete(agent)
    return stepName === undefined ? [] : [{ type: 'STEP_FINISHED', stepName, ...this.#by(agent) }]
  }

  /** The end of an agent. That of the root ends the stream, which closes by itself. */
  #end(agent: string, error: Payload<'error'> | null): AgUiEvent[] {
    if (agent === this.#runId) return []
    const open = [...this.#endText(agent), ...this.#endStep(agent)]
    this.#subagents.delete(agent)
    this.#answered.set(agent, ENDED)
    const subagentRunId = agent
    return error === null
      ? [...open, { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' } }]
      : [...open, { type: 'SUBAGENT_ERROR', subagentRunId, message: error.error, code: error.code }]
  }

  #by(agent: string): { subagentRunId?: string } {
    return agent === this.#runId ? {} : { subagentRunId: agent }
  }
}

/** After an agent's end no turn of it is to come. */
const ENDED = Number.POSITIVE_INFINITY

const messageId = (agent: string, turn: number): string => `${agent}.t${turn}`

/** A reference token of a JSON Pointer (RFC 6901). */
const pointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
