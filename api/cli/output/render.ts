import type { EventView } from '../../operations/events/schemas.ts'
import type { Paint } from './colours.ts'
import { cut, oneLine } from './text.ts'
import { dollars } from './units.ts'

/** A value on one line, sanitized: anything in an event may come from a model or a tool. */
const text = (v: unknown): string => oneLine(typeof v === 'string' ? v : v === undefined ? '' : JSON.stringify(v))

type Payload = NonNullable<EventView['payload']>

/** A finished command is a success of the call, whatever its exit code. The exit code decides the sign. */
function succeeded(p: Payload, paint: Paint): string {
  const { exitCode, signal } = (p.result ?? {}) as { exitCode?: unknown; signal?: unknown }
  const ended = p.toolName === 'run_command' && exitCode !== undefined
  const sign = ended && exitCode !== 0 ? paint('red', '✗') : paint('green', '✓')
  const exit = ended ? ` ${exitCode === null ? `ended by ${text(signal)}` : `exit ${text(exitCode)}`}` : ''
  return `  ${sign} ${text(p.toolName)}${exit} ${paint('dim', `${text(p.durationMs)} ms`)}`
}

const RAISE: Readonly<Record<string, string>> = {
  turns: 'raise --max-turns, or lower --grace-turns',
  wall_clock: 'raise --wall-clock',
  budget: 'raise the budget',
}

const again = (delayMs: unknown): string => (typeof delayMs === 'number' ? `; again in ${delayMs} ms` : '')

/** The final warning. If it comes in the first turn, no turn was left for the work itself. */
function warned({ turn, payload }: EventView): string {
  const { reason, maxTurns, graceTurns } = payload ?? {}
  const line = `recovery: final_warning ${text(reason)}`
  if (turn !== 1) return line
  const limit = reason === 'turns' ? ` (${text(maxTurns)} turns: the warning's, and ${text(graceTurns)} after it)` : ''
  return `${line}: no turn is left for the work itself${limit}; ${RAISE[String(reason)] ?? 'raise the limit'}`
}

/** One line for a person who follows a run. Null: the event adds nothing for them. */
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
      const stored =
        p.reused !== undefined ? ', from the record' : p.cached === undefined ? '' : ', from the request cache'
      return paint('dim', `  ${text(p.servedBy)}: ${tokens} in, ${usage.output ?? 0} out, ${cost}${stored}`)
    }
    case 'reuse_ended':
      return paint('yellow', `  leaves the record: ${text(p.reason)}`)
    case 'model_held':
      return paint('yellow', `  the provider's rate limit holds the call back${again(p.delayMs)}`)
    case 'tool_call_start':
      return `  ${paint('cyan', text(p.toolName))} ${paint('dim', cut(text(p.arguments), 100))}`
    case 'tool_call_end':
      if (p.success === true) return succeeded(p, paint)
      return `  ${paint('red', '✗')} ${text(p.toolName)} ${text(failure?.code)}: ${cut(text(failure?.message), 160)}`
    case 'tool_call_retry':
      return paint(
        'yellow',
        `  again in ${text(p.delayMs)} ms: ${text(failure?.code)} ${cut(text(failure?.message), 120)}`,
      )
    case 'tool_call_unknown':
      return paint('yellow', `  it is unknown whether ${text(event.toolCallId)} happened: ${text(p.reason)}`)
    case 'approval_requested':
      return paint('yellow', `  waits for approval: ${text(p.toolName)} (${text(event.toolCallId)})`)
    case 'approval_decided':
      return paint('dim', `  ${text(p.decision)} by ${text(event.actor.id)}`)
    case 'phase_advanced':
      return paint('bold', `phase ${text(p.to)}`)
    case 'gate_checked':
      return `  gate ${text(p.gate)}: ${p.passed === true ? paint('green', 'holds') : paint('red', 'does not hold')} ${text(p.evidence)}`
    case 'recovery':
      return paint('yellow', p.phase === 'final_warning' ? warned(event) : `recovery: ${text(p.reason ?? p.phase)}`)
    case 'error':
      return p.recoverable === true
        ? paint(
            'yellow',
            `  the model's attempt failed: ${text(p.code)} ${text(p.error)}${again(p.delayMs)}${p.outage === true ? '; the run waits for its model' : ''}`,
          )
        : p.code === 'CANCELLED'
          ? paint('yellow', `the run was cancelled: ${text(p.error)}`)
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
