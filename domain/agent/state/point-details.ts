import type { Block } from '../../calls/content.ts'
import { ERASED } from '../../calls/events/residue.ts'
import { callArguments } from '../../calls/requested-calls.ts'
import { toolCallId } from '../../log/ids.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'

/** A requested call that has not ended. `arguments` null: not a JSON object, or erased. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: JsonObject | null
}

/** The outcome of a call. `erased`: the outcome was erased, and `success` is null. */
interface ToolResult {
  readonly toolCallId: string
  readonly name: string
  readonly success: boolean | null
  readonly result?: Json
  readonly error?: { readonly code: string; readonly message: string }
  readonly erased?: true
}

/** Values of a checkpoint besides messages and usage (seed 000, 5.5). The folded state contains only their hashes. */
export interface PointFacts {
  readonly contextVariables: Readonly<Record<string, Json>>
  readonly pendingToolCalls: readonly ToolCall[]
  /** Results of the last started turn. */
  readonly completedToolResults: readonly ToolResult[]
  /** Files created by the last step. */
  readonly pendingCreates: readonly string[]
}

export const POINT_TYPES = [
  'agent_started',
  'context_set',
  'forked',
  'turn_start',
  'model_call_end',
  'tool_call_end',
  'turn_end',
] as const

type PointEvent = Extract<AgentEvent, { readonly type: (typeof POINT_TYPES)[number] }>

const TYPES: ReadonlySet<string> = new Set(POINT_TYPES)

const isPointEvent = (event: AgentEvent): event is PointEvent => TYPES.has(event.type)

export class PointDetails {
  readonly #variables = new Map<string, Json>()
  readonly #pending = new Map<string, ToolCall>()
  #completed: ToolResult[] = []
  #created: readonly string[] = []
  #answer: { readonly revision: number; readonly content: readonly Block[] } | null = null

  /** `erased`: the body is the residue of an erasure. */
  push(event: AgentEvent, erased = false): void {
    if (isPointEvent(event)) this.#take(event, erased)
  }

  copy(): PointDetails {
    const copy = new PointDetails()
    for (const [name, value] of this.#variables) copy.#variables.set(name, value)
    for (const [id, call] of this.#pending) copy.#pending.set(id, call)
    copy.#completed = [...this.#completed]
    copy.#created = this.#created
    copy.#answer = this.#answer
    return copy
  }

  #take(event: PointEvent, erased: boolean): void {
    switch (event.type) {
      case 'agent_started':
        for (const [name, value] of Object.entries(event.body.spec.contextVariables))
          this.#variables.set(name, value as Json)
        return
      case 'context_set':
        this.#variables.set(event.body.key, this.#value(event))
        return
      case 'forked':
        this.#pending.clear()
        return
      case 'turn_start':
        this.#pending.clear()
        this.#completed = []
        return
      case 'model_call_end':
        return event.body.purpose === 'turn' ? this.#requested(event, erased) : undefined
      case 'tool_call_end':
        return this.#ended(event, erased)
      case 'turn_end':
        this.#created = []
        return
    }
  }

  get facts(): PointFacts {
    return {
      contextVariables: Object.fromEntries([...this.#variables].sort(([a], [b]) => (a < b ? -1 : 1))),
      pendingToolCalls: [...this.#pending.values()],
      completedToolResults: [...this.#completed],
      pendingCreates: this.#created,
    }
  }

  #requested({ agentId, turn, revision, body }: EventOf<'model_call_end'>, erased: boolean): void {
    this.#answer = { revision, content: body.content }
    for (const [index, call] of body.calls.entries()) {
      const id = toolCallId(agentId, turn, index)
      const block = body.content[call.block]
      this.#pending.set(id, {
        id,
        name: call.askedName ?? call.toolName,
        arguments: block && !erased ? callArguments(block) : null,
      })
    }
  }

  #ended({ toolCallId: id = '', body }: EventOf<'tool_call_end'>, erased: boolean): void {
    const { toolName, askedName, success, result, error, created = [] } = body
    this.#pending.delete(id)
    this.#created = created
    const name = askedName ?? toolName
    if (erased) return void this.#completed.push({ toolCallId: id, name, success: null, erased })
    this.#completed.push({
      ...{ toolCallId: id, name, success },
      ...(result === undefined ? {} : { result: result as Json }),
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    })
  }

  #value({ body }: EventOf<'context_set'>): Json {
    if ('value' in body) return body.value as Json
    // The key was erased together with the value.
    if (body.key === ERASED) return ERASED
    const block =
      body.argumentsRef.revision === this.#answer?.revision ? this.#answer.content[body.argumentsRef.block] : undefined
    return (block && callArguments(block)?.value) ?? ERASED
  }
}
