import type { EventView } from '../http/schemas/events.ts'
import type { Paint } from './output/colours.ts'
import { cut, oneLine } from './output/text.ts'
import { dollars } from './output/units.ts'

/** Everything in an event may come from a model or a tool: nothing of it reaches the terminal as it is. */
const text = (v: unknown): string => oneLine(typeof v === 'string' ? v : v === undefined ? '' : JSON.stringify(v))

/** What a person follows a run by: one line for an event, or null where it says nothing new. */
export function eventLine(event: EventView, paint: Paint): string | null {
  const p = event.payload ?? {}
  const failure = p.error as { code?: string; message?: string } | undefined
  switch (event.type) {
    case 'turn_start':
      return paint('dim', `turn ${event.turn}`)
    case 'model_call_end': {
      const usage = (p.usage ?? {}) as Record<string, number>
      const tokens = (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
      const cost = typeof p.nanoDollars === 'number' ? dollars(p.nanoDollars) : '?'
      return paint('dim', `  ${text(p.servedBy)}: ${tokens} in, ${usage.output ?? 0} out, ${cost}`)
    }
    case 'tool_call_start':
      return `  ${paint('cyan', text(p.toolName))} ${paint('dim', cut(text(p.arguments), 100))}`
    case 'tool_call_end':
      if (p.success === true)
        return `  ${paint('green', '✓')} ${text(p.toolName)} ${paint('dim', `${text(p.durationMs)} ms`)}`
      return `  ${paint('red', '✗')} ${text(p.toolName)} ${text(failure?.code)}: ${cut(text(failure?.message), 160)}`
    case 'tool_call_retry':
      return paint(
        'yellow',
        `  again in ${text(p.delayMs)} ms: ${text(failure?.code)} ${cut(text(failure?.message), 120)}`,
      )
    case 'tool_call_unknown':
      return paint('yellow', `  nobody knows whether ${text(event.toolCallId)} happened: ${text(p.reason)}`)
    case 'approval_requested':
      return paint('yellow', `  waits for approval: ${text(p.toolName)} (${text(event.toolCallId)})`)
    case 'approval_decided':
      return paint('dim', `  ${text(p.decision)} by ${text(event.actor.id)}`)
    case 'phase_advanced':
      return paint('bold', `phase ${text(p.to)}`)
    case 'gate_checked':
      return `  gate ${text(p.gate)}: ${p.passed === true ? paint('green', 'holds') : paint('red', 'does not hold')} ${text(p.evidence)}`
    case 'recovery':
      return paint('yellow', `recovery: ${text(p.phase)} ${text(p.reason)}`)
    case 'error':
      return p.recoverable === true
        ? paint('yellow', `  the model's attempt failed: ${text(p.code)} ${text(p.error)}`)
        : paint('red', `ERROR ${text(p.code)}: ${text(p.error)}`)
    case 'completion':
      return paint('green', 'DONE')
    case 'paused':
      return paint('dim', 'paused')
    case 'workspace_drifted':
      return paint(
        'yellow',
        `files changed since the last step: ${(p.changed as string[] | undefined)?.map(oneLine).join(', ')}`,
      )
    default:
      return null
  }
}
