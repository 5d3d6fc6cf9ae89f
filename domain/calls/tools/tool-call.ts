import type { Json, JsonObject } from '../../log/json.ts'

/**
 * The answer of a tool. `content`: text or JSON for the model. `changed`: workspace paths that the call wrote or
 * removed. `created`: those of them that did not exist before. `detail`: facts for gates and audit.
 */
export interface ToolResult {
  readonly content: Json
  readonly changed?: readonly string[]
  readonly created?: readonly string[]
  readonly detail?: JsonObject
  /** Documents that the call has read or changed, by id, each with its frontier at the end of the call. */
  readonly documents?: Readonly<Record<string, string>>
  /**
   * The whole result as text, or as UTF-8 in pieces, when `content` shows only a part of it. Stored up to 64 MiB,
   * beyond that as head and tail; people and the agent can read it.
   */
  readonly whole?: string | readonly Uint8Array[]
}

/** A failed attempt with a known end. Tools throw only this on purpose; any other error becomes EXECUTION_FAILED. */
export interface ToolFailure extends Error {
  readonly name: 'ToolError'
  readonly code: string
  readonly transient: boolean
  /** The failure provably came before any effect, so an irreversible call may be retried. */
  readonly beforeEffect?: boolean
}
