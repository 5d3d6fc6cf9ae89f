import type { ToolResult } from '../calls/tools/tool-call.ts'
import type { ToolSpec } from '../calls/tools/tool-spec.ts'
import type { JsonObject } from '../log/json.ts'
import type { Sandbox, TextFilter, Workspace } from './workspace.ts'

export type { ToolFailure, ToolResult } from '../calls/tools/tool-call.ts'

/** The context of a tool's call. */
export interface ToolContext {
  readonly runId: string
  readonly agentId: string
  readonly toolCallId: string
  /** The tool's spec in the run. */
  readonly tool?: ToolSpec
  readonly attempt: number
  /**
   * `causationId`: `<stream>@<revision>` of the call's intent; `correlationId`: the outermost request. A tool adds both
   * to its own records.
   */
  readonly causationId?: string
  readonly correlationId?: string
  /**
   * The W3C trace context of this attempt, for requests to other programs: their spans then belong to the span of the
   * attempt. Null: the log cannot be read.
   */
  readonly traceParent?: () => Promise<string | null>
  readonly signal: AbortSignal
  readonly workspace: Workspace | null
  /** Runs commands under the run's policy and redacts secrets in their output; null: commands are not available. */
  readonly sandbox: Sandbox | null
  /** Redacts secrets. Call before cutting text, because a cut could split a secret. Absent: no secrets. */
  readonly redact?: (text: string) => string
  /** Like {@link redact}, for long text in pieces. Patterns match only within a line. */
  readonly redactStream?: () => TextFilter
  /**
   * The host that may receive the arguments, because they contain a secret that was granted to this host; see
   * `hostOfUrl` in secrets/hosts.ts. Absent: the arguments contain no such secret.
   */
  readonly secretsTo?: string
  /** A note on how to read the rest of the result, from a byte on. Absent: this run has no tool for it. */
  readonly readOn?: (from: number) => string
  /** Receives a command's output as it streams; the output is not stored. Secrets are redacted, also across pieces. */
  readonly onOutput?: (text: string) => void
}

/** `happened`: may contain the result; `unknown`: a person must decide. */
export type Probe =
  | { readonly found: 'happened'; readonly result?: ToolResult }
  | { readonly found: 'absent' | 'unknown' }

/**
 * A tool for models: its description, and the function that performs a call. `run` rejects with a ToolError, whose code
 * and message the model gets.
 */
export interface Tool {
  readonly spec: ToolSpec
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>
  /** For reconcilable tools only: whether the call happened. */
  probe?(args: JsonObject, context: ToolContext): Promise<Probe>
}
