import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ConnectedServers, type McpOptions, openMcpServers } from '../../../adapters/mcp/mcp-tools.ts'
import { McpServers as Settings } from '../../../adapters/mcp/settings.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Tool, ToolContext, ToolResult } from '../../../domain/ports/index.ts'
import { toolContext } from '../network/web-server.ts'
import { hasBubblewrap } from '../programs/bubblewrap.ts'

const FAKE = join(import.meta.dirname, 'fake-server.ts')
/** The clone may be inside a home, and homes are empty in the sandbox. */
export const CLONE = join(import.meta.dirname, '../../..')

/** A clock with immediate and recorded waits. */
export class QuickClock {
  readonly waits: number[] = []
  #now = 0
  now = () => this.#now
  sleep = async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    if (ms > 0) this.waits.push(ms)
    this.#now += ms
  }
}

/** The outcome of a call: a result or an error. The tests narrow the type. */
export interface Ended extends ToolResult {
  readonly content: never
  readonly message?: string
}

export interface Opened extends ConnectedServers {
  readonly clock: QuickClock
  readonly warnings: string[]
  /** Resolves when a server has listed its tools again. */
  changed(): Promise<string>
  tool(name: string): Tool
  /** The result of a call, or its rejection. */
  call(name: string, args?: JsonObject, context?: Partial<ToolContext>): Promise<Ended>
}

/** The settings of a fake server with this behaviour. */
export const fake = (mode = 'normal', more: object = {}) => ({
  type: 'stdio',
  command: ['node', FAKE, mode],
  readable: [CLONE],
  ...(hasBubblewrap ? {} : { sandboxed: false }),
  ...more,
})

/** Connects to these servers until the end of the test. */
export async function opened(settings: Record<string, object>, more: Partial<McpOptions> = {}): Promise<Opened> {
  const clock = new QuickClock()
  const warnings: string[] = []
  let waiting: ((server: string) => void)[] = []
  const servers = await openMcpServers({
    settings: Settings.parse(settings),
    program: () => process.execPath,
    secret: async (name) => `value of ${name}`,
    env: { PATH: '/usr/bin:/bin', HOME: '/', PROVIDER_KEY: 'sk-ours', SHARED: 'yes' },
    cwd: null,
    hidden: async () => [],
    dataFolder: tmpdir(),
    clock,
    version: '1.2.3',
    warn: (text) => warnings.push(text),
    changed: (server) => {
      for (const one of waiting) one(server)
      waiting = []
    },
    ...more,
  })
  onTestFinished(() => servers.close())
  const tool = (name: string) => {
    const found = servers.tools().find(({ spec }) => spec.name === name)
    if (found === undefined) throw new Error(`there is no tool ${name}; warnings: ${warnings.join('; ')}`)
    return found
  }
  return {
    ...servers,
    clock,
    warnings,
    changed: () => new Promise((resolve) => waiting.push(resolve)),
    tool,
    call: (name, args = {}, context = {}) =>
      tool(name)
        .run(args, toolContext(context))
        .catch((error) => error),
  }
}
