import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import type { Paint } from './colours.ts'
import { cut, oneLine, safe } from './text.ts'

const WIDTH = 120

const text = (value: unknown): string =>
  oneLine(typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))

/**
 * The output of an external agent's run for a terminal: its text unchanged, everything else as separate lines. One
 * instance per run, because text may end in the middle of a line.
 */
export class AgentLines {
  readonly #paint: Paint
  #midLine = false

  constructor(paint: Paint) {
    this.#paint = paint
  }

  /** The text for an event, or ''. */
  of({ type, payload, toolCallId }: EventView): string {
    if (type === 'agent_events')
      return ((payload?.events ?? []) as AgentEventBody[]).map((event) => this.#event(event)).join('')
    if (type === 'process_start') {
      const { confined, reason } = (payload?.confinement ?? {}) as { confined?: unknown; reason?: unknown }
      return confined === false ? this.#line(this.#paint('yellow', `the agent runs unconfined: ${text(reason)}`)) : ''
    }
    if (type === 'cancel_requested')
      return this.#line(this.#paint('yellow', `its end was asked for ${text(payload?.reason)}`))
    if (type === 'permission_requested' || type === 'approval_requested')
      return this.#line(
        this.#paint(
          'yellow',
          `  waits for approval: ${text(payload?.toolName)} (${text(payload?.toolCallId ?? toolCallId)})`,
        ),
      )
    if (type === 'permission_decided' || type === 'approval_decided')
      return this.#line(this.#paint('dim', `  ${text(payload?.decision)}`))
    return ''
  }

  /** The text that ends an incomplete line. */
  end(): string {
    return this.#midLine ? this.#line('') : ''
  }

  #event({ kind, channel, text: said = '', message, data }: AgentEventBody): string {
    const paint = this.#paint
    switch (kind) {
      case 'TextOutput': {
        if (said !== '') this.#midLine = !said.endsWith('\n')
        return safe(said)
      }
      case 'ToolCall': {
        const { name, input } = (data ?? {}) as { name?: unknown; input?: unknown }
        return this.#line(`  ${paint('cyan', text(name ?? message))} ${paint('dim', cut(text(input), WIDTH))}`)
      }
      case 'ToolResult': {
        const { success, output } = (data ?? {}) as { success?: unknown; output?: unknown }
        const sign = success === true ? paint('green', '✓') : paint('red', '✗')
        return this.#line(`  ${sign} ${paint('dim', cut(text(output), WIDTH))}`)
      }
      case 'Error':
        return this.#line(paint('red', `  ${text(message ?? said)}`))
      case 'Status':
        return this.#line(paint('dim', `  ${cut(text(message ?? `${channel ?? ''} ${said}`), WIDTH)}`))
      default:
        return ''
    }
  }

  #line(painted: string): string {
    const before = this.#midLine ? '\n' : ''
    this.#midLine = false
    return painted === '' ? before : `${before}${painted}\n`
  }
}
