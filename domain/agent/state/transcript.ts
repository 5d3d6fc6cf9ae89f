import type { Block, Message } from '../../calls/content.ts'
import { outcomeText, resultText, shownText } from '../../calls/result-text.ts'
import { readerOf, readOnNote } from '../../calls/tools/tools.ts'
import { byteLength } from '../../calls/truncate.ts'
import { canonicalText } from '../../log/canonical.ts'
import { sha256, toolCallId } from '../../log/ids.ts'
import { appendRoot, EMPTY_ROOT, type Root } from '../../log/root.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'

// Raise ASSEMBLER (request.ts) for any change in the wording of messages or in the events that make them.

/** Types of events that add messages or determine their position. */
export const TRANSCRIPT_TYPES = [
  'agent_started',
  'user_input',
  'message_received',
  'message_bounced',
  'lost_call_decided',
  'turn_start',
  'recovery',
  'model_call_end',
  'tool_call_end',
  'turn_end',
  'forked',
] as const

type TranscriptEvent = Extract<AgentEvent, { readonly type: (typeof TRANSCRIPT_TYPES)[number] }>

/**
 * The messages that the model sees, computed from the agent's events in order. Inputs join at the start of the turn
 * that reads them. Results join when their turn ends, in call order. The state's root of messages counts the same
 * number.
 */
export class Transcript {
  /** Approximate memory use: the bytes of the events pushed so far. */
  bytes = 0
  private readonly items: Message[] = []
  private readonly itemTurns: number[] = []
  private before: { readonly whole: Transcript; readonly count: number } | null = null
  private turn = 0
  private unread: string[] = []
  private decided: string[] = []
  private held: string[] = []
  private calls: { id: string; providerId: string; toolName: string }[] = []
  private results = new Map<string, Message>()
  private root = EMPTY_ROOT
  /** The agent's tool that reads the rest of long results. The notes in truncated results name it. */
  private reader: string | undefined
  /** The number of items that the root covers. */
  private rooted = 0

  /** The messages so far. The array grows in place; copy it to keep it. */
  get messages(): readonly Message[] {
    return this.items
  }

  get turns(): readonly number[] {
    return this.itemTurns
  }

  get count(): number {
    return (this.before?.count ?? 0) + this.items.length
  }

  /** The message with this ordinal and its turn; a branch also looks up inherited messages. Throws if there is none. */
  at(ordinal: number): { readonly message: Message; readonly turn: number } {
    const inherited = this.before?.count ?? 0
    if (ordinal < inherited) return this.before!.whole.at(ordinal)
    const message = this.items[ordinal - inherited]
    if (message === undefined) throw new Error(`there is no message ${ordinal}`)
    return { message, turn: this.itemTurns[ordinal - inherited]! }
  }

  /** The rolling root of the messages as worded. Each message is hashed once, on first use. */
  get rendered(): Root {
    for (; this.rooted < this.items.length; this.rooted++)
      this.root = appendRoot(this.root, sha256(canonicalText(this.items[this.rooted])))
    return this.root
  }

  /** An independent continuation for events that may never be appended. It contains only the messages pushed to it. */
  branch(): Transcript {
    const copy = this.copyWithoutItems()
    copy.root = this.rendered
    copy.before = { whole: this, count: this.count }
    return copy
  }

  copy(): Transcript {
    const copy = this.copyWithoutItems()
    copy.bytes = this.bytes
    for (const item of this.items) copy.items.push(item)
    for (const turn of this.itemTurns) copy.itemTurns.push(turn)
    copy.before = this.before
    copy.root = this.root
    copy.rooted = this.rooted
    return copy
  }

  private copyWithoutItems(): Transcript {
    const copy = new Transcript()
    copy.turn = this.turn
    copy.unread = [...this.unread]
    copy.decided = [...this.decided]
    copy.held = [...this.held]
    copy.calls = this.calls
    copy.results = new Map(this.results)
    copy.reader = this.reader
    return copy
  }

  push(event: AgentEvent): void {
    this.bytes += event.size
    if (isTranscriptEvent(event)) this.take(event)
    while (this.itemTurns.length < this.items.length) this.itemTurns.push(this.turn)
  }

  private take(event: TranscriptEvent): void {
    switch (event.type) {
      case 'agent_started':
        this.reader = readerOf(event.body.spec.tools)?.name
        return
      case 'user_input':
        this.unread.push(event.body.text)
        return
      case 'message_received':
        // The answer that a call waits for becomes the result of that call.
        if (event.toolCallId === undefined) this.unread.push(event.body.text)
        return
      case 'message_bounced':
        this.unread.push(event.body.text)
        return
      case 'lost_call_decided':
        if (event.body.decision === 'happened') this.decided.push(happenedText(event.body))
        return
      case 'turn_start':
        this.turn = event.turn
        for (const text of this.unread.splice(0)) this.items.push({ role: 'user', content: text })
        for (const text of this.decided.splice(0)) this.items.push({ role: 'system', content: text })
        for (const text of this.held.splice(0)) this.items.push({ role: 'system', content: text })
        return
      case 'recovery':
        if (event.body.phase === 'final_warning') this.held.push(event.body.warning)
        return
      case 'model_call_end':
        if (event.body.purpose === 'turn') this.answer(event)
        return
      case 'tool_call_end':
        this.result(event)
        return
      case 'turn_end':
        this.settle()
        if (NOTES[event.body.outcome] !== undefined)
          this.items.push({ role: 'system', content: NOTES[event.body.outcome]! })
        return
      case 'forked':
        this.settle(FORKED_AWAY)
        // A fork leaves its source's recovery behind.
        this.held = []
        return
    }
  }

  private answer(event: EventOf<'model_call_end'>): void {
    const { content, calls } = event.body
    if (joinsMessages(event.body)) this.items.push({ role: 'assistant', content: shownBlocks(event.body) })
    this.calls = calls.map((call, index) => ({
      id: toolCallId(event.agentId, event.turn, index),
      providerId: providerIdOf(content[call.block]),
      toolName: call.toolName,
    }))
  }

  private result(event: EventOf<'tool_call_end'>): void {
    const call = this.calls.find((one) => one.id === event.toolCallId)
    if (call === undefined) return
    const { success, toolName } = event.body
    this.results.set(call.id, {
      role: 'tool',
      toolCallId: call.id,
      providerCallId: call.providerId,
      toolName,
      content: outcomeText(event.body, (head) =>
        this.reader !== undefined
          ? readOnNote(this.reader, call.id, byteLength(head))
          : `the whole is kept in the log; to read on, ask ${toolName} for a part of it`,
      ),
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

const TYPES: ReadonlySet<string> = new Set(TRANSCRIPT_TYPES)

const isTranscriptEvent = (event: AgentEvent): event is TranscriptEvent => TYPES.has(event.type)

/** The result that the model reads for a call that was open when the run was forked. */
export const FORKED_AWAY = 'CANCELLED: the run was forked before this call had ended'

/** The parts of the message about a lost call that, as a person decided, happened; name and result go between them. */
export const HAPPENED = ['A call of ', ' has happened, but its record was lost.', ' Its result: '] as const

function happenedText({ toolName, result }: EventOf<'lost_call_decided'>['body']): string {
  const text = result === undefined ? '' : `${HAPPENED[2]}${resultText(result)}`
  return shownText(`${HAPPENED[0]}${toolName}${HAPPENED[1]}${text}`, () => 'the whole is kept in the log')
}

/** The message after a turn that ended without calls. */
export const NOTES: Partial<Record<EventOf<'turn_end'>['body']['outcome'], string>> = {
  text: 'Your answer called no tool. Go on with advance_phase, or finish with complete_task.',
  cut: 'Your answer was cut off at the output limit. Go on, in smaller steps.',
}

type Answer = EventOf<'model_call_end'>['body']

/** Whether an answer joins the messages: at least one of its blocks can be shown. */
export const joinsMessages = (answer: Answer): boolean => shownBlocks(answer).length > 0

/** Removes unrecorded calls, for example after a refusal: providers reject a history with a call without a result. */
const shownBlocks = ({ content, calls }: Answer): readonly Block[] =>
  calls.length > 0 ? content : content.filter(({ type }) => type !== 'tool_use')

const providerIdOf = (block: Block | undefined): string => (typeof block?.id === 'string' ? block.id : '')
