import type { Block, Usage } from '../../../domain/calls/content.ts'
import { ModelError } from '../../../domain/calls/errors.ts'
import type { Cut } from '../../../domain/calls/model-call.ts'
import type { ModelOutcome, StopReason } from '../../../domain/ports/index.ts'
import { Meter } from '../answer-meter.ts'
import { type Fields, fields } from '../fields.ts'
import type { Assembled } from '../read-answer.ts'
import { TextFeed } from '../text-feed.ts'
import { tokenCount, toWellFormedText, withUniqueIds } from '../wellformed.ts'
import { OpenCalls } from './calls.ts'

/** Assembles a chat completion from stream chunks or from one document. */
export class OpenAiAnswer implements Assembled {
  private readonly meter = new Meter()
  private readonly calls = new OpenCalls(this.meter)
  private readonly feed: TextFeed
  private text = ''
  private refusal = ''
  private thought = ''
  private thoughtMember = 'reasoning_content'
  private finish: string | null = null
  private usage: Fields | null = null
  private model = ''

  constructor(onText?: (text: string) => void) {
    this.feed = new TextFeed(onText)
  }

  /** Takes one chunk (`choices[].delta`) or a whole completion (`choices[].message`). */
  take(chunk: unknown): void {
    const c = fields(chunk)
    if (typeof c.model === 'string' && c.model !== '') this.model = c.model
    if (c.usage) this.usage = fields(c.usage)
    const choices = Array.isArray(c.choices) ? c.choices.map(fields) : []
    const choice = choices.find((one) => (one.index ?? 0) === 0)
    if (!choice) return
    this.grow(fields(choice.delta ?? choice.message))
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.finish = choice.finish_reason
  }

  takeWhole(document: unknown): void {
    this.meter.wholeDocument()
    this.take(document)
  }

  flush(): void {
    this.feed.flush()
  }

  /**
   * The outcome. Throws ModelError if the answer is incomplete (transient). `cut`: the bound that ended the answer. If
   * the server reports no usage, `requestText` is used to estimate it (four bytes per token), so that budgets still
   * apply.
   */
  outcome(
    fallbackModel: string,
    requestId: string | null,
    requestText: () => string,
    cut: Cut | null = null,
  ): ModelOutcome {
    if (this.finish === null && cut === null) {
      throw new ModelError('NETWORK', 'openai: the stream ended before the answer was whole', { transient: true })
    }
    return {
      content: this.content(),
      stopReason: cut === null ? this.stopReason() : 'max_tokens',
      usage: this.usage ? toUsage(this.usage) : this.estimate(requestText()),
      servedBy: this.model || fallbackModel,
      ...(requestId === null ? {} : { requestId }),
      ...(cut === null ? {} : { cut }),
    }
  }

  private grow(delta: Fields): void {
    const text = textOf(delta.content)
    this.meter.take(text)
    this.text += text
    this.feed.take(text)
    if (typeof delta.refusal === 'string') {
      this.meter.take(delta.refusal)
      this.refusal += delta.refusal
    }
    for (const member of ['reasoning_content', 'reasoning']) {
      const more = delta[member]
      if (typeof more !== 'string' || more === '') continue
      if (this.thought === '') this.thoughtMember = member
      // Some servers send the same reasoning under both names.
      if (this.thoughtMember !== member) continue
      this.meter.take(more)
      this.thought += more
    }
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) this.calls.take(fields(call))
  }

  private content(): Block[] {
    const blocks: Block[] = []
    if (this.thought !== '') {
      const member = this.thoughtMember === 'reasoning' ? { member: 'reasoning' } : {}
      blocks.push({ type: 'reasoning', text: toWellFormedText(this.thought), ...member })
    }
    const said = [this.text, this.refusal].filter((t) => t !== '').join('\n')
    if (said !== '') blocks.push({ type: 'text', text: toWellFormedText(said) })
    for (const { id, name, json } of this.calls.list) {
      blocks.push({
        type: 'tool_use',
        id: toWellFormedText(id),
        name: toWellFormedText(name),
        input_text: json.whole.toWellFormed(),
      })
    }
    return withUniqueIds(blocks, (n) => `call_${n}`)
  }

  private stopReason(): StopReason {
    if (this.finish === 'length') return 'max_tokens'
    if (this.finish === 'content_filter' || (this.refusal !== '' && this.calls.list.length === 0)) return 'refusal'
    return this.calls.list.length > 0 ? 'tool_use' : 'end_turn'
  }

  private estimate(requestText: string): Usage {
    const said = this.thought + this.text + this.calls.list.map((c) => c.name + c.json.whole).join('')
    const size = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)
    return { input: size(requestText), output: size(said), cacheRead: 0, cacheWrite: 0 }
  }
}

/** The usage with disjoint counts. OpenAI's count of prompt tokens includes the cached ones. */
function toUsage(usage: Fields): Usage {
  const details = fields(usage.prompt_tokens_details)
  const prompt = tokenCount(usage.prompt_tokens)
  const cacheRead = Math.min(tokenCount(details.cached_tokens), prompt)
  const cacheWrite = Math.min(tokenCount(details.cache_write_tokens), prompt - cacheRead)
  return { input: prompt - cacheRead - cacheWrite, output: tokenCount(usage.completion_tokens), cacheRead, cacheWrite }
}

/** The text of a delta. Some servers send a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (typeof fields(part).text === 'string' ? fields(part).text : '')).join('')
}
