import { keptArguments } from '../../../domain/calls/answer-bounds.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { ModelError } from '../../../domain/calls/errors.ts'
import type { Cut } from '../../../domain/calls/model-call.ts'
import type { ModelOutcome, StopReason } from '../../../domain/ports/index.ts'
import { ArgumentText, Meter } from '../answer-meter.ts'
import { type Fields, fields } from '../fields.ts'
import type { Assembled } from '../read-answer.ts'
import { TextFeed } from '../text-feed.ts'
import { parseArguments, tokenCount, wellFormedJson, withUniqueIds } from '../wellformed.ts'

interface Open {
  readonly block: Fields
  /** Streamed argument text; null before the first piece. */
  json: ArgumentText | null
}

const STOPS: Readonly<Record<string, StopReason>> = {
  end_turn: 'end_turn',
  stop_sequence: 'end_turn',
  tool_use: 'tool_use',
  pause_turn: 'pause_turn',
  refusal: 'refusal',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
}

/**
 * Assembles a streamed answer and keeps each block's members as sent. Does not use the SDK's own accumulation, which
 * loses argument text that is not JSON.
 */
export class AnthropicAnswer implements Assembled {
  private readonly open: Open[] = []
  private readonly meter = new Meter()
  private readonly feed: TextFeed
  private readonly usage: Record<string, unknown> = {}
  private model = ''
  private stop: string | null = null

  constructor(onText?: (text: string) => void) {
    this.feed = new TextFeed(onText)
  }

  /** Takes one stream event. Skips unknown kinds of events and deltas, as the API requires of its clients. */
  take(event: unknown, size: number): void {
    const e = fields(event)
    if (!STRINGS.has(fields(e.delta).type)) this.meter.take(size)
    if (e.type === 'message_start') this.begin(fields(e.message))
    else if (e.type === 'content_block_start') this.openBlock(e.index, fields(e.content_block))
    else if (e.type === 'content_block_delta') this.grow(e.index, fields(e.delta))
    else if (e.type === 'message_delta') {
      this.count(fields(e.usage))
      const stop = fields(e.delta).stop_reason
      if (typeof stop === 'string') this.stop = stop
    }
  }

  /** Takes an answer that is one document. */
  takeWhole(message: unknown, size: number): void {
    const m = fields(message)
    if (!Array.isArray(m.content)) throw unreadable('it has no content')
    this.begin(m)
    this.meter.wholeDocument()
    this.meter.take(size)
    m.content.forEach((block, index) => {
      this.openBlock(index, fields(block))
      if (fields(block).type === 'text') this.feed.take(String(fields(block).text ?? ''))
    })
    this.stop = typeof m.stop_reason === 'string' ? m.stop_reason : null
  }

  flush(): void {
    this.feed.flush()
  }

  /**
   * The outcome. Throws ModelError if the answer is incomplete (transient) or has unreadable blocks. `cut`: the bound
   * that ended the answer. The usage is then at least the estimate for the part that was read.
   */
  outcome(fallbackModel: string, requestId: string | null, cut: Cut | null = null): ModelOutcome {
    if (this.stop === null && cut === null) {
      throw new ModelError('NETWORK', 'anthropic: the stream ended before the answer was whole', { transient: true })
    }
    const content = withUniqueIds(this.open.filter(Boolean).map(close), (n) => `call_${n}`)
    const calls = content.some((block) => block.type === 'tool_use')
    const { usage } = this
    return {
      content,
      stopReason: cut === null ? (STOPS[this.stop ?? ''] ?? (calls ? 'tool_use' : 'end_turn')) : 'max_tokens',
      usage: {
        input: tokenCount(usage.input_tokens),
        output: Math.max(tokenCount(usage.output_tokens), cut === null ? 0 : Math.ceil(this.meter.bytes / 4)),
        cacheRead: tokenCount(usage.cache_read_input_tokens),
        cacheWrite: tokenCount(usage.cache_creation_input_tokens),
      },
      servedBy: this.model || fallbackModel,
      ...(requestId === null ? {} : { requestId }),
      ...(cut === null ? {} : { cut }),
    }
  }

  private begin(message: Fields): void {
    if (typeof message.model === 'string') this.model = message.model
    this.count(fields(message.usage))
  }

  private count(usage: Fields): void {
    for (const [name, value] of Object.entries(usage)) if (typeof value === 'number') this.usage[name] = value
  }

  private openBlock(index: unknown, block: Fields): void {
    if (index !== this.open.length) throw unreadable('its blocks are out of order')
    if (typeof block.type !== 'string') throw unreadable('a block has no type')
    this.meter.block()
    if (block.type === 'tool_use') this.meter.call()
    this.open.push({ block: { ...block }, json: null })
  }

  private grow(index: unknown, delta: Fields): void {
    const open = typeof index === 'number' ? this.open[index] : undefined
    if (!open) throw unreadable('it goes on with a block that never began')
    const { block } = open
    if (delta.type === 'text_delta') {
      this.append(block, 'text', delta.text)
      if (typeof delta.text === 'string') this.feed.take(delta.text)
    } else if (delta.type === 'thinking_delta') this.append(block, 'thinking', delta.thinking)
    else if (delta.type === 'signature_delta') block.signature = delta.signature
    else if (delta.type === 'citations_delta') {
      if (!Array.isArray(block.citations)) block.citations = []
      ;(block.citations as unknown[]).push(delta.citation)
    } else if (delta.type === 'input_json_delta' && typeof delta.partial_json === 'string') {
      this.meter.take(delta.partial_json)
      open.json ??= new ArgumentText()
      open.json.take(delta.partial_json)
    }
  }

  private append(block: Fields, member: string, more: unknown): void {
    if (typeof more !== 'string') return
    this.meter.take(more)
    block[member] = `${typeof block[member] === 'string' ? block[member] : ''}${more}`
  }
}

/** Deltas whose size is the length of one string. */
const STRINGS: ReadonlySet<unknown> = new Set(['text_delta', 'thinking_delta', 'input_json_delta'])

function close({ block, json }: Open): Block {
  const { input, ...rest } = block
  if (input === undefined) return wellFormedJson(rest) as Block
  // Arguments are not repaired. Text that cannot be canonical JSON remains as sent, and the check of arguments refuses
  // it.
  const text = json === null ? keptArguments(JSON.stringify(input)) : json.whole
  return { ...(wellFormedJson(rest) as Block), ...parseArguments(text) } as Block
}

const unreadable = (why: string): ModelError =>
  new ModelError('INVALID_RESPONSE', `anthropic: the answer cannot be read: ${why}`, { transient: true })
