import type { Tool as McpTool } from '@modelcontextprotocol/client'
import { type Effect, ToolSpec } from '../../domain/calls/tools/tool-spec.ts'
import { canonicalBytes } from '../../domain/log/canonical.ts'
import { sha256 } from '../../domain/log/ids.ts'
import { echo, firstIssue } from '../../domain/log/issues.ts'
import { wellFormed } from '../../domain/log/well-formed.ts'
import { usableSchema } from './schema.ts'
import type { McpServer } from './settings.ts'

/** A tool as a server offered it at one time. */
export interface OfferedTool {
  readonly spec: ToolSpec
  /** The server's own name of the tool. */
  readonly name: string
  /** The digest of the server's whole description of the tool. A changed digest means a changed tool. */
  readonly digest: string
}

/** The tools of one server, and a message for each tool that cannot be offered. */
export interface Offer {
  readonly tools: readonly OfferedTool[]
  readonly faults: readonly string[]
}

const MAX_TOOLS = 256
/** The longest description of a tool, in characters. */
const MAX_DESCRIPTION = 4_000

/** Maps the tools of a server to keepup's tools, with names `server:tool`, checked schemas and effect classes. */
export function offerOf(server: string, listed: readonly McpTool[], settings: McpServer): Offer {
  const tools = new Map<string, OfferedTool>()
  const faults: string[] = []
  const fault = (name: string, why: string) => faults.push(`tool "${echo(name)}" of MCP server "${server}": ${why}`)
  for (const tool of listed.slice(0, MAX_TOOLS)) {
    try {
      const offered = offeredTool(server, tool, settings)
      if (tools.has(offered.spec.name)) fault(tool.name, `another one is called ${offered.spec.name} too`)
      else tools.set(offered.spec.name, offered)
    } catch (error) {
      fault(tool.name, (error as Error).message)
    }
  }
  if (listed.length > MAX_TOOLS)
    faults.push(`MCP server "${server}" offers more than ${MAX_TOOLS} tools; the rest is left out`)
  return { tools: [...tools.values()], faults }
}

function offeredTool(server: string, tool: McpTool, settings: McpServer): OfferedTool {
  if (tool.execution?.taskSupport === 'required')
    throw new Error('it runs only as a task of the protocol, which keepup does not start')
  const { name, description, inputSchema, ...rest } = tool
  const parsed = ToolSpec.safeParse({
    name: `${server}:${tool.name.replaceAll(/[./ ]/g, '_')}`,
    description: descriptionOf(tool),
    parameters: usableSchema(tool.inputSchema),
    effect: effectOf(tool, settings),
    paths: {},
    barrier: false,
    control: false,
    // Includes the time for a new connection.
    timeLimitMs: settings.connectMs + settings.timeoutMs,
    definitionHash: sha256(canonicalBytes(wellFormed(rest))),
  })
  if (!parsed.success) throw new Error(firstIssue(parsed.error, 'tool'))
  return { spec: parsed.data, name, digest: sha256(canonicalBytes(wellFormed(tool))) }
}

const descriptionOf = ({ title, description }: McpTool): string =>
  (description ?? title ?? '').toWellFormed().replaceAll('\0', '').slice(0, MAX_DESCRIPTION)

/**
 * The effect class (CONTRACTS 3): a person's setting, else the server's annotations, else irreversible. Contradictory
 * annotations count as none.
 */
function effectOf({ name, annotations = {} }: McpTool, { effects }: McpServer): Effect {
  if (Object.hasOwn(effects, name)) return effects[name]!
  const { readOnlyHint, idempotentHint, destructiveHint } = annotations
  if (readOnlyHint === true) return destructiveHint === true ? 'irreversible' : 'pure'
  return idempotentHint === true ? 'idempotent' : 'irreversible'
}
