import type { ToolSpec } from '../agent/definition/tools.ts'
import type { Json, JsonObject } from '../log/json.ts'
import type { Sandbox, Workspace } from './workspace.ts'

/** What a tool gets to work with. */
export interface ToolContext {
  readonly runId: string
  readonly agentId: string
  readonly toolCallId: string
  readonly attempt: number
  readonly signal: AbortSignal
  readonly workspace: Workspace | null
  /** Runs commands as the run's policy says, with secrets hidden in their output; null where commands cannot be had. */
  readonly sandbox: Sandbox | null
  /** Hides secrets in text that the tool is about to cut, lest the cut go through one. Absent: nothing to hide. */
  readonly redact?: (text: string) => string
  /**
   * How to read on in the whole result, from a byte of it: words for a note beside what is shown of it. Absent: this run has
   * no tool for it.
   */
  readonly readOn?: (from: number) => string
  /** Receives a command's output as it streams; ephemeral. Secrets are hidden on the way, also across pieces. */
  readonly onOutput?: (text: string) => void
}

/**
 * What a tool gives back. `content` is what the model sees: text, or JSON. `changed`: workspace paths that were written
 * or removed. `created`: the part of them that did not exist before. `detail`: facts for gates and audit.
 */
export interface ToolResult {
  readonly content: Json
  readonly changed?: readonly string[]
  readonly created?: readonly string[]
  readonly detail?: JsonObject
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

/** `happened` may carry the result; `unknown` leaves the doubt to a person. */
export type Probe =
  | { readonly found: 'happened'; readonly result?: ToolResult }
  | { readonly found: 'absent' | 'unknown' }

export interface Tool {
  readonly spec: ToolSpec
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>
  /** Reconcilable tools only: did the call happen? */
  probe?(args: JsonObject, context: ToolContext): Promise<Probe>
}
