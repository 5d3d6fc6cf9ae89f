import type { AgUiMessage } from './schemas.ts'

type Assistant = Extract<AgUiMessage, { role: 'assistant' }>
type Call = NonNullable<Assistant['toolCalls']>[number]

/** The conversation as a client shows it after the events so far. */
export class Transcript {
  readonly #messages: AgUiMessage[]

  constructor(before: readonly AgUiMessage[]) {
    this.#messages = [...before]
  }

  /** Sets the text of an assistant message. */
  text(id: string, content: string, subagentRunId: string | undefined): void {
    this.#assistant(id, subagentRunId).content = content
  }

  call(id: string, call: Call, subagentRunId: string | undefined): void {
    const message = this.#assistant(id, subagentRunId)
    message.toolCalls = [...(message.toolCalls ?? []), call]
  }

  add(message: AgUiMessage): void {
    this.#messages.push(message)
  }

  get messages(): AgUiMessage[] {
    return this.#messages.map((message) => ({ ...message }))
  }

  #assistant(id: string, subagentRunId: string | undefined): Assistant {
    const found = this.#messages.find((one) => one.id === id)
    if (found?.role === 'assistant') return found
    const made: Assistant = { id, role: 'assistant', ...(subagentRunId !== undefined && { subagentRunId }) }
    this.#messages.push(made)
    return made
  }
}
