import type { EventView, Payload } from '../../operations/events/schemas.ts'
import type { Paint } from './colours.ts'
import { modelOutcome, plain, spanLine, waitsForApproval } from './event-words.ts'
import { safe, truncateToWidth } from './text.ts'

const WIDTH = 120

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
    if (payload === null) return ''
    switch (type) {
      case 'agent_events':
        return payload.events.map((event) => this.#event(event)).join('')
      case 'spans_reported':
        return payload.spans.map((span) => this.#line(`  ${truncateToWidth(spanLine(span), WIDTH)}`)).join('')
      case 'model_outcome':
        return this.#line(`  ${truncateToWidth(modelOutcome(payload), WIDTH)}`)
      case 'mirror_gap':
        return this.#line(this.#paint('yellow', 'entries of the transcript did not arrive'))
      case 'process_start':
        return payload.confinement?.confined === false
          ? this.#line(this.#paint('yellow', `the agent runs unconfined: ${plain(payload.confinement.reason)}`))
          : ''
      case 'cancel_requested':
        return this.#line(this.#paint('yellow', `its end was asked for ${plain(payload.reason)}`))
      case 'permission_requested':
        return this.#line(this.#paint('yellow', waitsForApproval(payload.toolName, payload.toolCallId)))
      case 'approval_requested':
        return this.#line(this.#paint('yellow', waitsForApproval(payload.toolName, toolCallId)))
      case 'approval_supported':
        return this.#line(this.#paint('dim', '  approved by one of several people'))
      case 'permission_decided':
      case 'approval_decided':
        return this.#line(this.#paint('dim', `  ${plain(payload.decision)}`))
      default:
        return ''
    }
  }

  /** The text that ends an incomplete line. */
  end(): string {
    return this.#midLine ? this.#line('') : ''
  }

  #event({
    kind,
    channel,
    text: said = '',
    continues,
    message,
    data,
  }: Payload<'agent_events'>['events'][number]): string {
    const paint = this.#paint
    switch (kind) {
      case 'TextOutput': {
        if (said === '') return ''
        const before = continues === false ? this.#line('') : ''
        this.#midLine = !said.endsWith('\n')
        return before + safe(said)
      }
      case 'ToolCall': {
        const { name, input } = (data ?? {}) as { name?: unknown; input?: unknown }
        return this.#line(
          `  ${paint('cyan', plain(name ?? message))} ${paint('dim', truncateToWidth(plain(input), WIDTH))}`,
        )
      }
      case 'ToolResult': {
        const { success, output } = (data ?? {}) as { success?: unknown; output?: unknown }
        const sign = success === true ? paint('green', '✓') : paint('red', '✗')
        return this.#line(`  ${sign} ${paint('dim', truncateToWidth(plain(output), WIDTH))}`)
      }
      case 'Error':
        return this.#line(paint('red', `  ${plain(message ?? said)}`))
      case 'Status':
        return this.#line(paint('dim', `  ${truncateToWidth(plain(message ?? `${channel ?? ''} ${said}`), WIDTH)}`))
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
