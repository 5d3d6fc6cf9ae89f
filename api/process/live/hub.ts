import type { Header } from '../../../domain/log/envelope.ts'
import type { LiveFeed, LivePiece } from '../../../domain/ports/index.ts'
import type { RunNews } from '../../operations/runs/run-news.ts'

const MAX_WAITING = 2000
/** The most characters of a call's output, and the most calls of an agent, that the hub keeps for readers who come later. */
const MAX_OUTPUT = 20_000
const MAX_CALLS = 16

type HeaderPart = Pick<Header, 'type' | 'runId' | 'agentId' | 'toolCallId'>

/** The output of an agent's calls of one turn, by call id. */
interface Outputs {
  readonly turn: number
  readonly byCall: Map<string, string>
}

/**
 * The ephemeral half of RuntimeEventBus. Recorded events come from the log's subscriptions. Passes news to the
 * listeners of a run. A slow listener loses text but never the end of a drive, so its queue is bounded.
 */
export class LiveHub implements LiveFeed {
  readonly #listeners = new Map<string, Set<Listener>>()
  /** By run and agent, while the run is driven and calls of the agent run. */
  readonly #outputs = new Map<string, Map<string, Outputs>>()

  publish(news: RunNews | Parameters<LiveFeed['publish']>[0]): void {
    if (news.kind === 'output') this.#keep(news)
    if (news.kind === 'drive' && news.driving) this.#outputs.set(news.runId, new Map())
    else if (news.kind === 'drive') this.#outputs.delete(news.runId)
    for (const listener of this.#listeners.get(news.runId) ?? []) listener.push(news)
  }

  #keep({ runId, agentId, turn, toolCallId, text }: Extract<LivePiece, { kind: 'output' }>): void {
    const ofRun = this.#outputs.get(runId)
    // A tool can write after its run is no longer driven.
    if (ofRun === undefined) return
    const before = ofRun.get(agentId)
    const outputs = before?.turn === turn ? before : { turn, byCall: new Map<string, string>() }
    ofRun.set(agentId, outputs)
    const { byCall } = outputs
    byCall.set(toolCallId, ((byCall.get(toolCallId) ?? '') + text).slice(-MAX_OUTPUT))
    if (byCall.size > MAX_CALLS) byCall.delete(byCall.keys().next().value as string)
  }

  /** Releases the output of a call that has ended: its event contains the result. */
  heard({ type, runId, agentId, toolCallId }: HeaderPart): void {
    if (type !== 'tool_call_end' || runId === undefined || agentId === undefined || toolCallId === undefined) return
    const ofRun = this.#outputs.get(runId)
    const outputs = ofRun?.get(agentId)
    outputs?.byCall.delete(toolCallId)
    if (outputs?.byCall.size === 0) ofRun?.delete(agentId)
  }

  /** News of a run from the call on, and before it the last output of calls of the present turn, until the signal aborts. Listening begins at the call, not at the first read. */
  listen(runId: string, signal: AbortSignal): AsyncIterableIterator<RunNews> {
    const listener = new Listener(runId)
    for (const [agentId, { turn, byCall }] of this.#outputs.get(runId) ?? [])
      for (const [toolCallId, text] of byCall)
        listener.push({ kind: 'output', runId, agentId, turn, toolCallId, text, soFar: true })
    const of = this.#listeners.get(runId) ?? new Set()
    this.#listeners.set(runId, of.add(listener))
    const leave = () => {
      of.delete(listener)
      if (of.size === 0 && this.#listeners.get(runId) === of) this.#listeners.delete(runId)
      listener.end()
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return listener
  }
}

class Listener implements AsyncIterableIterator<RunNews> {
  readonly #runId: string
  readonly #waiting: RunNews[] = []
  #dropped = 0
  #ended = false
  #wake: (() => void) | null = null

  constructor(runId: string) {
    this.#runId = runId
  }

  push(news: RunNews): void {
    if (this.#ended) return
    if (this.#waiting.length >= MAX_WAITING && news.kind !== 'drive') this.#dropped++
    else this.#waiting.push(news)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<RunNews>> {
    for (;;) {
      const news = this.#waiting.shift()
      if (news) return { done: false, value: news }
      if (this.#dropped > 0) {
        const pieces = this.#dropped
        this.#dropped = 0
        return { done: false, value: { kind: 'dropped', runId: this.#runId, pieces } }
      }
      if (this.#ended) return { done: true, value: undefined }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = null
    }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
