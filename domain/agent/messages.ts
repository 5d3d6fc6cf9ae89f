import { toolCallId } from '../log/ids.ts'
import type { Json } from '../log/json.ts'
import type { Block, Message } from './content.ts'
import type { AgentEvent, EventOf } from './events.ts'
import { MAX_CALLS } from './plan.ts'

/**
 * The messages that the model sees, computed from the agent's events in order. Inputs join at the start of the turn that
 * reads them, results when their turn ends, in call order.
 */
export class Transcript {
  private readonly items: Message[] = []
  private readonly unread: string[] = []
  private readonly held: string[] = []
  private calls: { id: string; providerId: string; toolName: string }[] = []
  private readonly results = new Map<string, Message>()
  private turnOpen = false

  /** The messages so far. The array grows in place; take a copy to keep it. */
  get messages(): readonly Message[] {
    return this.items
  }

  push(event: AgentEvent): void {
    switch (event.type) {
      case 'user_input':
        this.unread.push(event.body.text)
        return
      case 'turn_start':
        this.turnOpen = true
        for (const text of this.unread.splice(0)) this.items.push({ role: 'user', content: text })
        for (const text of this.held.splice(0)) this.items.push({ role: 'system', content: text })
        return
      case 'recovery':
        if (event.body.phase !== 'final_warning') return
        if (this.turnOpen) this.items.push({ role: 'system', content: event.body.warning })
        else this.held.push(event.body.warning)
        return
      case 'model_call_end':
        this.answer(event)
        return
      case 'tool_call_end':
        this.result(event)
        return
      case 'turn_end':
        this.settle()
        this.turnOpen = false
        if (NOTES[event.body.outcome] !== undefined)
          this.items.push({ role: 'system', content: NOTES[event.body.outcome]! })
        return
      case 'forked':
        this.settle(FORKED_AWAY)
        this.turnOpen = false
        return
      default:
        return
    }
  }

  private answer(event: EventOf<'model_call_end'>): void {
    const { content, calls, flood } = event.body
    if (content.length > 0 && flood === undefined) this.items.push({ role: 'assistant', content })
    this.calls = calls.map((call, index) => ({
      id: toolCallId(event.agentId, event.turn, index),
      providerId: providerIdOf(content[call.block]),
      toolName: call.toolName,
    }))
  }

  private result(event: EventOf<'tool_call_end'>): void {
    const call = this.calls.find((one) => one.id === event.toolCallId)
    if (call === undefined) return
    const { success, result, error, toolName } = event.body
    this.results.set(call.id, {
      role: 'tool',
      toolCallId: call.id,
      providerCallId: call.providerId,
      toolName,
      content: success ? resultText(result ?? null) : `${error?.code}: ${error?.message}`,
      isError: !success,
    })
  }

  private settle(missing?: string): void {
    for (const call of this.calls) {
      const result = this.results.get(call.id)
      if (result !== undefined) this.items.push(result)
      else if (missing !== undefined) {
        const { id, providerId, toolName } = call
        this.items.push({
          role: 'tool',
          toolCallId: id,
          providerCallId: providerId,
          toolName,
          content: missing,
          isError: true,
        })
      }
    }
    this.calls = []
    this.results.clear()
  }
}

/** What the model is told of a call that a fork left behind. */
export const FORKED_AWAY = 'CANCELLED: the run was forked before this call had ended'

/** What the model is told of a turn that ended without calls. */
export const NOTES: Partial<Record<EventOf<'turn_end'>['body']['outcome'], string>> = {
  text: 'Your answer called no tool. Go on with advance_phase, or finish with complete_task.',
  flooded: `Your last answer asked for more than ${MAX_CALLS} tool calls. None of them ran, and the answer was left out.`,
  cut: 'Your answer was cut off at the output limit. Go on, in smaller steps.',
}

/** A result as the model reads it: text as it is, anything else as JSON. */
export function resultText(result: Json): string {
  return typeof result === 'string' ? result : JSON.stringify(result)
}

const providerIdOf = (block: Block | undefined): string => (typeof block?.id === 'string' ? block.id : '')
