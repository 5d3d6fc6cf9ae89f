import type { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'

/** The tools that runs can have. */
export interface KnownTools {
  readonly specs: readonly ToolSpec[]
  /** A sentence for each unavailable MCP server or tool. */
  readonly faults: readonly string[]
}
