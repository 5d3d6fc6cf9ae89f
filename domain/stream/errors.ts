/** Why a request is refused: its target does not exist, the state does not allow it, or its content is invalid. */
export type Refusal = 'absent' | 'conflict' | 'invalid'

/** A refused request to a stream of any kind. `code` is stable; `message` says what is wrong and what to do. */
export class StreamError<Code extends string = string> extends Error {
  override readonly name: string = 'StreamError'
  readonly code: Code
  readonly why: Refusal
  constructor(code: Code, message: string, { why = 'conflict', ...options }: ErrorOptions & { why?: Refusal } = {}) {
    super(message, options)
    this.code = code
    this.why = why
  }
}
