import type { AgentEvent } from '../../domain/agent/events/events.ts'
import type { LostCall } from '../../domain/agent/events/loss.ts'
import { toolCallId } from '../../domain/log/ids.ts'
import { TOOLS } from './plans.ts'

/** The calls that the tables show as started and not ended after the first `kept` events (`callsOpenAfter`). */
export function seenByTables(events: readonly AgentEvent[], kept: number): LostCall[] {
  const open = new Map<string, LostCall>()
  for (const id of begun(events)) open.set(id, callOf(events, id))
  for (const event of events.slice(0, kept)) if (event.type === 'tool_call_end') open.delete(event.toolCallId!)
  return [...open.values()]
}

function begun(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'loss_accepted') return event.body.calls.map((call) => call.toolCallId)
    return isIntent(event) ? [event.toolCallId!] : []
  })
}

const isIntent = (event: AgentEvent): boolean =>
  event.type === 'tool_call_intent' || (event.type === 'tool_call_start' && event.body.intent)

/** A call from the model's request or from an earlier loss. */
function callOf(events: readonly AgentEvent[], id: string): LostCall {
  for (const event of events.toReversed()) {
    if (event.type === 'model_call_end') {
      const call = event.body.calls.find((_, index) => toolCallId(event.agentId, event.turn, index) === id)
      if (call)
        return { toolCallId: id, toolName: call.toolName, argumentsHash: call.argumentsHash, effect: call.effect }
    }
    const named = event.type === 'loss_accepted' && event.body.calls.find((call) => call.toolCallId === id)
    if (named) return named
  }
  throw new Error(`no answer asks for ${id}`)
}

/**
 * The unsettled calls in the lost part of a walk that may have happened. Compares each irreversible intent after the
 * loss with them, by name and arguments, without using the state.
 */
export class LostEffects {
  private readonly risky = new Map<string, string>()
  private readonly asked = new Map<string, string>()
  private readonly began = new Set<string>()
  private readonly released = new Set<string>()
  private unlisted = false
  private readonly refused = new Set<string>()

  /** Describes a violation if this event repeats an irreversible effect that may have happened; else null. */
  see(event: AgentEvent): string | null {
    const id = event.toolCallId ?? ''
    const key = this.asked.get(id)
    if (event.type === 'model_call_end') this.plan(event)
    if (event.type === 'loss_accepted') this.lose(event.body)
    if (event.type === 'loss_released') this.unlisted = false
    if (event.type === 'lost_call_decided' && event.body.decision === 'run') this.risky.delete(id)
    if (event.type === 'tool_call_resolved') {
      this.risky.delete(id)
      if (event.body.decision === 'run') this.released.add(id)
    }
    if (key === undefined) return null
    if (isIntent(event)) {
      this.began.add(id)
      if (this.released.has(id)) return null
      if (this.unlisted) return `${id} began although any call may have happened`
      const before = [...this.risky].find(([, one]) => one === key)
      return before === undefined ? null : `${id} repeats ${before[0]}`
    }
    if (event.type !== 'tool_call_end') return null
    // The outcome of the lost call itself has arrived.
    if (this.began.has(id) && event.body.error?.code !== 'UNKNOWN_OUTCOME') this.risky.delete(id)
    else if (!this.began.has(id) && !this.refused.has(id)) this.settle(event, key)
    return null
  }

  private settle({ body }: Extract<AgentEvent, { type: 'tool_call_end' }>, key: string) {
    if (!body.success && body.error?.code !== 'UNKNOWN_OUTCOME') return
    const before = [...this.risky].find(([, one]) => one === key)
    if (before !== undefined) this.risky.delete(before[0])
  }

  private plan(event: Extract<AgentEvent, { type: 'model_call_end' }>) {
    for (const [index, call] of event.body.calls.entries()) {
      const id = toolCallId(event.agentId, event.turn, index)
      for (const set of [this.began, this.released, this.refused]) set.delete(id)
      if (TOOLS[call.toolName as 'send'] !== 'irreversible') this.asked.delete(id)
      else this.asked.set(id, `${call.toolName} ${call.argumentsHash}`)
      if (call.refused) this.refused.add(id)
    }
  }

  private lose({ calls, unlisted }: Extract<AgentEvent, { type: 'loss_accepted' }>['body']) {
    this.unlisted ||= unlisted === true
    this.released.clear()
    for (const { toolCallId: id, toolName, argumentsHash, effect } of calls)
      if (effect === 'irreversible') this.risky.set(id, `${toolName} ${argumentsHash}`)
  }
}
