// The members of chat completions that requests use: https://platform.openai.com/docs/api-reference/chat/create

export interface WireCall {
  readonly type: 'function'
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

export type WireMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  | {
      readonly role: 'assistant'
      readonly content: string | null
      readonly tool_calls?: readonly WireCall[]
      readonly reasoning_content?: string
      readonly reasoning?: string
    }

interface WireTool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: Readonly<Record<string, unknown>>
  }
}

export interface Params {
  readonly model: string
  readonly stream: true
  readonly stream_options: { readonly include_usage: true }
  /** Of OpenAI's own servers. */
  readonly max_completion_tokens?: number
  /** Of all others. */
  readonly max_tokens?: number
  readonly messages: readonly WireMessage[]
  readonly tools?: readonly WireTool[]
  readonly tool_choice?:
    | 'auto'
    | 'required'
    | { readonly type: 'function'; readonly function: { readonly name: string } }
  readonly parallel_tool_calls?: false
}
