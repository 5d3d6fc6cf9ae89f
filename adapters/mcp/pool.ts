import type { Tool } from '../../domain/ports/index.ts'
import type { ConnectedServers, McpOptions } from './mcp-tools.ts'
import type { McpServers as Settings } from './settings.ts'

/**
 * The time that a server without users keeps running if its run has not ended. A driver may resume the run soon after
 * its start or after a person's decision. In ms.
 */
const IDLE_MS = 30_000

interface PoolOptions extends Omit<McpOptions, 'settings' | 'cwd' | 'changed' | 'warn'> {
  readonly settings: Settings
  readonly warn?: (text: string) => void
}

/** A new list of tools: the first list of a connection, or a changed list. */
interface OfferedTools {
  readonly server: string
  /** The folder of the runs that have these tools. Null: all runs. */
  readonly folder: string | null
  readonly tools: readonly Tool[]
}

/** The use of one server. Its connection remains open at least until `release`. */
export interface McpLease extends Pick<ConnectedServers, 'tools'> {
  /** Why the server or some of its tools are unavailable. Empty: all are available. */
  readonly faults: readonly string[]
  /**
   * `ends`: the run has ended, so the server can end at once. Otherwise the server keeps running for a while, in case
   * the run continues.
   */
  release(ends?: boolean): void
}

interface Entry {
  readonly opened: Promise<ConnectedServers>
  faults: string[]
  users: number
  idle: AbortController | null
}

/**
 * The MCP servers of this process: one connection to each server, shared by all runs. A program without a folder in its
 * settings starts in the run's workspace, and has one process per workspace.
 */
export class McpPool {
  readonly #options: PoolOptions
  readonly #entries = new Map<string, Entry>()
  readonly #listeners = new Set<(offered: OfferedTools) => void>()
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get servers(): readonly string[] {
    return Object.keys(this.#options.settings)
  }

  /** The configured server of a tool with this name; null if there is none. */
  serverOf(toolName: string): string | null {
    const [server = '', tool] = toolName.split(':')
    return tool !== undefined && Object.hasOwn(this.#options.settings, server) ? server : null
  }

  /** Calls the listener with each new list of tools of a server. */
  onOffered(listener: (offered: OfferedTools) => void): void {
    this.#listeners.add(listener)
  }

  /**
   * Connects to a server if it is not connected. `cwd`: the folder of a program whose settings name none. Null: no
   * folder.
   */
  async lease(server: string, cwd: string | null): Promise<McpLease> {
    if (this.#closed) throw new Error('the MCP servers of this process have been closed')
    const settings = this.#options.settings[server]
    if (settings === undefined) throw new Error(`there is no MCP server "${server}"`)
    const ofFolder = settings.type === 'stdio' && settings.cwd === undefined
    const key = JSON.stringify([server, ofFolder ? cwd : null])
    const known = this.#entries.get(key)
    const entry = known ?? this.#open(server, cwd, ofFolder ? cwd : null)
    if (known === undefined) this.#entries.set(key, entry)
    entry.users++
    entry.idle?.abort()
    entry.idle = null
    try {
      const opened = await entry.opened
      if (known !== undefined) {
        entry.faults = []
        await opened.connect()
      }
      let released = false
      const release = (ends = false) => {
        if (!released) this.#leave(key, entry, ends)
        released = true
      }
      return { tools: () => opened.tools(), faults: entry.faults, release }
    } catch (error) {
      this.#leave(key, entry, false)
      throw error
    }
  }

  /** Ends all connections and processes. */
  async close(): Promise<void> {
    this.#closed = true
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const { idle } of entries) idle?.abort()
    await Promise.all(entries.map(async ({ opened }) => (await opened).close()))
  }

  #open(server: string, cwd: string | null, folder: string | null): Entry {
    const { settings, warn, ...options } = this.#options
    const tell = (text: string) => {
      entry.faults.push(text)
      warn?.(text)
    }
    // Loads the protocol's client only when a server is used.
    const opened = import('./mcp-tools.ts').then(({ openMcpServers }) =>
      openMcpServers({
        ...options,
        settings: { [server]: settings[server]! },
        cwd,
        warn: (text) => tell(text),
        changed: () => void this.#offered(server, folder, entry),
      }),
    )
    const entry: Entry = { opened, faults: [], users: 0, idle: null }
    return entry
  }

  async #offered(server: string, folder: string | null, { opened }: Entry): Promise<void> {
    const tools = (await opened).tools()
    if (!this.#closed) for (const listener of this.#listeners) listener({ server, folder, tools })
  }

  #leave(key: string, entry: Entry, ends: boolean): void {
    if (--entry.users > 0 || this.#closed) return
    const idle = new AbortController()
    entry.idle = idle
    this.#options.clock.sleep(ends ? 0 : IDLE_MS, idle.signal).then(
      async () => {
        if (entry.users > 0 || this.#entries.get(key) !== entry) return
        this.#entries.delete(key)
        await (await entry.opened).close()
      },
      () => undefined,
    )
  }
}
