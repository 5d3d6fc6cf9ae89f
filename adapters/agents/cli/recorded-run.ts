import { byteLength } from '../../../domain/calls/truncate.ts'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import { BOUNDS } from '../../../domain/external/bounds.ts'
import { reportedTokens } from '../../../domain/external/usage.ts'
import { object } from './json-fields.ts'

/** The longest answer that {@link HeardRun} reassembles, in bytes. */
const MAX_ANSWER = 8 * 1024 * 1024
/** The messages by which model clients report a network failure. */
const NETWORK = /\b(?:ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE)\b|connection error|fetch failed|socket hang up/i

/** Collects the turns, errors and text from the events of a run of Claude Code. */
export class HeardRun {
  numTurns: number | null = null
  /** The HTTP status of the model's service in the last failure. */
  status: number | null = null
  error = ''
  #pieces: string[] = []
  #bytes = 0

  hear({ kind, text, message, data }: AgentEventBody): void {
    const told = object(data)
    if (reportedTokens(told.turns) > 0) this.numTurns = reportedTokens(told.turns)
    if (reportedTokens(told.apiErrorStatus) > 0) this.status = reportedTokens(told.apiErrorStatus)
    if (kind === 'Error' && message !== undefined && !message.startsWith('claude_code ')) this.error = message
    if (kind === 'ToolCall') this.#forget()
    if (kind !== 'TextOutput' || text === undefined) return
    if (this.#bytes > MAX_ANSWER) this.#forget()
    this.#pieces.push(text)
    this.#bytes += byteLength(text)
  }

  get network(): boolean {
    return this.status === null && NETWORK.test(this.error)
  }

  /** The whole answer. A final text at its size bound was cut; the text events contain the rest. */
  whole(finalText: string): string {
    if (byteLength(finalText) <= BOUNDS.finalText - 4) return finalText
    const said = this.#pieces.join('')
    const from = said.indexOf(finalText)
    return from === -1 ? finalText : said.slice(from)
  }

  #forget(): void {
    this.#pieces = []
    this.#bytes = 0
  }
}
