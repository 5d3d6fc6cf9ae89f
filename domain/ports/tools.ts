import type { ToolResult } from '../calls/tool-call.ts'
import type { ToolSpec } from '../calls/tool-spec.ts'
import type { JsonObject } from '../log/json.ts'
import type { Sandbox, TextFilter, Workspace } from './workspace.ts'

export type { ToolFailure, ToolResult } from '../calls/tool-call.ts'

/** The environment of a tool's call. */
export interface ToolContext {
  readonly runId: string
  readonly agentId: string
  readonly toolCallId: string
  /** The tool as the run knows it. */
  readonly tool?: ToolSpec
  readonly attempt: number
  /**
   * `<stream>@<revision>` of the call's intent, and the outermost request behind it: what a tool records elsewhere
   * names both.
   */
  readonly causationId?: string
  readonly correlationId?: string
  readonly signal: AbortSignal
  readonly workspace: Workspace | null
  /** Runs commands as the run's policy says, with secrets hidden in their output; null where commands cannot be had. */
  readonly sandbox: Sandbox | null
  /** Hides secrets in text that the tool is about to cut, lest the cut go through one. Absent: nothing to hide. */
  readonly redact?: (text: string) => string
  /** {@link redact} for a long text in pieces, in which patterns match within a line. */
  readonly redactStream?: () => TextFilter
  /**
   * How to read on in the whole result, from a byte of it: words for a note beside what is shown of it. Absent: this run has
   * no tool for it.
   */
  readonly readOn?: (from: number) => string
  /** Receives a command's output as it streams; ephemeral. Secrets are hidden on the way, also across pieces. */
  readonly onOutput?: (text: string) => void
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
