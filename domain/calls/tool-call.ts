import type { Json, JsonObject } from '../log/json.ts'

/**
 * The answer of a tool. `content` is what the model sees: text, or JSON. `changed`: workspace paths that were written
 * or removed. `created`: the part of them that did not exist before. `detail`: facts for gates and audit.
 */
export interface ToolResult {
  readonly content: Json
  readonly changed?: readonly string[]
  readonly created?: readonly string[]
  readonly detail?: JsonObject
  /** Documents that the call has read or changed, by id, each with the frontier that it left the call with. */
  readonly documents?: Readonly<Record<string, string>>
  /**
   * The whole result as text, or as UTF-8 in pieces, where `content` shows only a part of it. It is stored up to 64 MiB,
   * beyond that as head and tail; people and the agent read on in it.
   */
  readonly whole?: string | readonly Uint8Array[]
}

/** A failed attempt whose end was seen. Tools throw nothing else on purpose; anything else becomes EXECUTION_FAILED. */
export interface ToolFailure extends Error {
  readonly name: 'ToolError'
  readonly code: string
  readonly transient: boolean
  /** The failure provably came before any effect: an irreversible call may be retried. */
  readonly beforeEffect?: boolean
}
