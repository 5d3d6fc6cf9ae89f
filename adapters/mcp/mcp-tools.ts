import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import type { Transport } from '@modelcontextprotocol/client'
import { ToolError } from '../../domain/calls/errors.ts'
import type { Clock, Tool } from '../../domain/ports/index.ts'
import { type ConfinedProgram, confineProgram, type Program } from '../sandbox/confined-program.ts'
import { SandboxUnavailable } from '../sandbox/error.ts'
import type { ProcessRegistry } from '../sandbox/registry.ts'
import { McpConnection } from './connection.ts'
import { HttpTransport } from './http-transport.ts'
import type { OfferedTool } from './offered-tools.ts'
import { ProcessTransport } from './process-transport.ts'
import type { McpServer, McpServers as Settings, StdioServer } from './settings.ts'

export interface McpOptions {
  readonly settings: Settings
  /** The absolute path of a program. Throws if no program is found outside every workspace. */
  program(name: string): string
  /** The value of a secret by its name. Rejects with ToolError SECRET_UNAVAILABLE. */
  secret(name: string): Promise<string>
  /** keepup's environment. Servers get the variables that their settings name. */
  readonly env: NodeJS.ProcessEnv
  /** The folder of servers whose settings name none. Null: a temporary folder. */
  readonly cwd: string | null
  /** The paths to hide from sandboxed servers that may change this folder. */
  hidden(folder: string | null): Promise<readonly string[]>
  /** Absolute paths that each sandboxed server can read, in addition to those of its settings. */
  readonly readable?: readonly string[]
  readonly dataFolder: string
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** keepup's version, sent to servers. */
  readonly version: string
  /** Records running processes, so that those of a dead driver can be ended. */
  readonly registry?: ProcessRegistry
  /** Called when a server's list of tools has changed. */
  changed?(server: string): void
  /** Called with the reason why a server or one of its tools is unavailable. */
  warn?(text: string): void
}

/** The MCP servers of a run, connected. */
export interface ConnectedServers {
  /** The current tools of all servers, in the order of the settings. */
  tools(): readonly Tool[]
  /** Reconnects to lost servers. Calls `warn` for each unreachable server. */
  connect(): Promise<void>
  /** Ends all connections and processes. */
  close(): Promise<void>
}

/** Connects to all servers concurrently. An unreachable server has no tools, and `warn` gets the reason. */
export async function openMcpServers(options: McpOptions): Promise<ConnectedServers> {
  const { settings, clock, version, warn, changed } = options
  const connections = Object.entries(settings).map(([server, one]) => {
    const connection: McpConnection = new McpConnection({
      server,
      settings: one,
      version,
      clock,
      open: () => openTransport(server, one, options),
      offered: ({ faults }) => {
        for (const fault of faults) warn?.(fault)
        changed?.(server)
      },
    })
    return connection
  })
  const never = new AbortController().signal
  const connect = async () => {
    await Promise.all(
      connections.map((connection) => connection.connected(never).catch((error) => warn?.((error as Error).message))),
    )
  }
  await connect()
  return {
    connect,
    tools: () => connections.flatMap((one) => one.offer.tools.map((tool) => asTool(one, tool))),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}

const asTool = (connection: McpConnection, tool: OfferedTool): Tool => ({
  spec: tool.spec,
  run: (args, context) => connection.call(tool, args, context),
})

async function openTransport(server: string, settings: McpServer, options: McpOptions): Promise<Transport> {
  if (settings.type === 'http') return new HttpTransport(settings.url, await valuesOf(settings.headers, options))
  const [name = '', ...args] = settings.command
  const env = { ...environment(settings.env, options.env), ...(await valuesOf(settings.secretEnv, options)) }
  const program = { file: options.program(name), args, env }
  const [folder, id] = [settings.cwd ?? options.cwd, randomUUID()]
  if (!settings.sandboxed) return new ProcessTransport({ ...program, id, cwd: folder ?? tmpdir() }, options.registry)
  const confined = await inSandbox(server, program, settings, { id, folder }, options)
  return new ProcessTransport({ ...confined, id, confined }, options.registry)
}

async function inSandbox(
  server: string,
  program: Program,
  settings: Pick<StdioServer, 'readable' | 'network'>,
  { id, folder }: { id: string; folder: string | null },
  { hidden, readable: always = [], dataFolder, warn = () => undefined }: McpOptions,
): Promise<ConfinedProgram> {
  const hide = await hidden(folder)
  const { network } = settings
  const readable = [...settings.readable, ...always]
  try {
    return await confineProgram(program, { id, folder, readable, network, hide, dataFolder, warn })
  } catch (error) {
    const why =
      error instanceof SandboxUnavailable
        ? `cannot be confined: ${error.why}. Install bubblewrap, or set "sandboxed": false for this server`
        : `cannot start: ${(error as Error).message}`
    throw new ToolError('EXECUTION_FAILED', `MCP server "${server}" ${why}`, { cause: error, beforeEffect: true })
  }
}

async function valuesOf(
  names: Readonly<Record<string, string>>,
  { secret }: McpOptions,
): Promise<Record<string, string>> {
  return Object.fromEntries(
    await Promise.all(Object.entries(names).map(async ([key, name]) => [key, await secret(name)])),
  )
}

/** Variables that every server gets if they are set, in addition to those of its settings. */
const ALWAYS = ['PATH', 'HOME', 'LANG', 'TZ']

function environment(names: readonly string[], ours: NodeJS.ProcessEnv): Record<string, string> {
  const passed = [...ALWAYS, ...names].flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]]]))
  return Object.fromEntries(passed)
}
