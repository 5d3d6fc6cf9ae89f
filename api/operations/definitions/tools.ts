import type { ToolSpec } from '../../../domain/agent/definition/tools.ts'

/** The tools that runs may be given. */
export interface KnownTools {
  readonly specs: readonly ToolSpec[]
  /** A sentence for each MCP server, or tool of one, that cannot be had. */
  readonly faults: readonly string[]
}
