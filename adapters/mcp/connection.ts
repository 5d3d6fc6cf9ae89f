import {
  Client,
  type JsonSchemaValidator,
  type Progress,
  SdkError,
  SdkErrorCode,
  type Transport,
} from '@modelcontextprotocol/client'
import { ToolError } from '../../domain/calls/errors.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import type { Clock, ToolResult } from '../../domain/ports/index.ts'
import { callFailure, sessionLost } from './failures.ts'
import { type Offer, type OfferedTool, offerOf } from './offered-tools.ts'
import { mcpResult } from './results.ts'
import type { McpServer } from './settings.ts'

/** The wait after the first failed connection, doubled with each further one, and its maximum. In ms. */
const [FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS] = [500, 30_000]
/** The time to answer the probe for the protocol era. A server that takes longer belongs to the older era. In ms. */
const PROBE_MS = 5_000
const MAX_PAGES = 64
/** The wait between a notification of changed tools and the request for the new list. In ms. */
const CHANGES_MS = 100
/**
 * The age from which a list of tools is refreshed before its use over HTTP, where notifications and sessions can be
 * lost. In ms.
 */
const LIST_MS = 30_000

export interface ConnectionOptions {
  readonly server: string
  readonly settings: McpServer
  readonly version: string
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** A new transport for a new connection. For a program, starts a new process. Rejects with ToolError. */
  open(): Promise<Transport>
  /** Called with each list of tools, including the first. */
  offered(offer: Offer): void
}

export interface CallContext {
  readonly signal: AbortSignal
  readonly onOutput?: (text: string) => void
  readonly traceParent?: () => Promise<string | null>
}

type Live = { readonly client: Client; readonly transport: Transport }

/**
 * The connection to one server. A call after its end opens a new connection, after a wait that grows with each failure.
 */
export class McpConnection {
  readonly #options: ConnectionOptions
  #live: Live | null = null
  #connecting: Promise<Live> | null = null
  #failures = 0
  #notBefore = 0
  #offer: Offer = { tools: [], faults: [] }
  #listedAt = 0
  readonly #closing = new AbortController()

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  get offer(): Offer {
    return this.#offer
  }

  /** Connects, if no connection is open. Rejects with ToolError, before any effect, or with the signal's reason. */
  async connected(signal: AbortSignal): Promise<Live> {
    if (this.#live !== null && !this.#isOld()) return this.#live
    this.#connecting ??= this.#renew().finally(() => {
      this.#connecting = null
    })
    const aborted = Promise.withResolvers<never>()
    const abort = () => aborted.reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await Promise.race([this.#connecting, aborted.promise])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  async call(tool: OfferedTool, args: JsonObject, context: CallContext): Promise<ToolResult> {
    const { signal } = context
    const live = await this.connected(signal)
    const { client, transport } = live
    this.#mustBeUnchanged(tool)
    const { timeoutMs } = this.#options.settings
    try {
      const traceparent = (await context.traceParent?.()) ?? null
      const answer = await client.callTool(
        { name: tool.name, arguments: args, ...(traceparent !== null && { _meta: { traceparent } }) },
        {
          signal,
          timeout: timeoutMs,
          maxTotalTimeout: timeoutMs,
          ...(context.onOutput && { onprogress: tellProgress(context.onOutput) }),
        },
      )
      return mcpResult(answer)
    } catch (error) {
      if (sessionLost(error, transport)) this.#lost(live)
      if (signal.aborted) throw signal.reason
      throw callFailure(this.#options.server, error, endingOf(transport))
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(
      new ToolError('EXECUTION_FAILED', 'the MCP servers of this run have been closed', { beforeEffect: true }),
    )
    const connecting = this.#connecting?.catch(() => null)
    const live = this.#live ?? (await connecting)
    this.#live = null
    await live?.client.close()
    await live?.transport.close()
  }

  /** Throws if the server has changed or removed the tool since the call was planned or approved. */
  #mustBeUnchanged(tool: OfferedTool): void {
    const now = this.#offer.tools.find(({ spec }) => spec.name === tool.spec.name)
    if (now === undefined)
      throw new ToolError('RESOURCE_NOT_FOUND', `${tool.spec.name} is not offered by its MCP server any more`, {
        beforeEffect: true,
      })
    if (now.digest !== tool.digest)
      throw new ToolError(
        'CONFLICT',
        `nothing was done: the MCP server has changed ${tool.spec.name} since it was offered`,
        {
          beforeEffect: true,
        },
      )
  }

  #isOld(): boolean {
    const { clock, settings } = this.#options
    return settings.type === 'http' && clock.now() - this.#listedAt >= LIST_MS
  }

  async #renew(): Promise<Live> {
    if (this.#live !== null) await this.#refresh(this.#live)
    return this.#live ?? this.#connect()
  }

  async #connect(): Promise<Live> {
    const { clock, server } = this.#options
    const signal = this.#closing.signal
    try {
      await clock.sleep(Math.max(0, this.#notBefore - clock.now()), signal)
      const live = await this.#handshake(signal)
      this.#failures = 0
      this.#live = live
      return live
    } catch (error) {
      this.#backOff()
      if (signal.aborted) throw signal.reason
      if (error instanceof ToolError) throw error
      const why = `MCP server "${server}" cannot be reached: ${(error as Error).message}`
      throw new ToolError('EXECUTION_FAILED', why, { cause: error, transient: true, beforeEffect: true })
    }
  }

  #backOff(): void {
    const wait = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures++)
    this.#notBefore = this.#options.clock.now() + wait
  }

  /** Supports both protocol eras. Some older servers exit at an unknown request, so they are started a second time. */
  async #handshake(signal: AbortSignal): Promise<Live> {
    try {
      return await this.#open('auto', signal)
    } catch (error) {
      const ended = error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed
      if (!ended || this.#options.settings.type !== 'stdio') throw error
      return await this.#open('legacy', signal)
    }
  }

  async #open(mode: 'auto' | 'legacy', signal: AbortSignal): Promise<Live> {
    const { server, version, settings } = this.#options
    const transport = await this.#options.open()
    const client = new Client(
      { name: 'keepup', version },
      {
        // keepup uses only the tools of a server: no sampling, no questions to the user, no folders.
        capabilities: {},
        versionNegotiation: { mode, probe: { timeoutMs: Math.min(PROBE_MS, settings.connectMs / 2) } },
        listMaxPages: MAX_PAGES,
        // Skips output validation: a compiled schema runs the server's patterns, whose time is unbounded, and keepup
        // treats results as text.
        jsonSchemaValidator: {
          getValidator:
            <T>(): JsonSchemaValidator<T> =>
            (data) => ({ valid: true, data: data as T, errorMessage: undefined }),
        },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: CHANGES_MS, onChanged: () => void this.#refresh(live) },
        },
      },
    )
    const live = { client, transport }
    try {
      const limits = { timeout: settings.connectMs, maxTotalTimeout: settings.connectMs, signal }
      await client.connect(transport, limits)
      client.onclose = () => this.#lost(live)
      const { tools } = await client.listTools(undefined, { ...limits, cacheMode: 'refresh' })
      this.#take(offerOf(server, tools, settings))
      return live
    } catch (error) {
      const ending = endingOf(transport)
      await client.close().catch(() => {})
      await transport.close().catch(() => {})
      throw ending === null || (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed)
        ? error
        : new Error(`it ${ending}`, { cause: error })
    }
  }

  #lost(live: Live): void {
    if (this.#live !== live) return
    this.#live = null
    this.#backOff()
    void live.transport.close()
  }

  async #refresh(live: Live): Promise<void> {
    const { server, settings, clock } = this.#options
    this.#listedAt = clock.now()
    try {
      const { tools } = await live.client.listTools(undefined, { timeout: settings.connectMs, cacheMode: 'refresh' })
      this.#take(offerOf(server, tools, settings))
    } catch (error) {
      // Otherwise the old list remains in use. Calls fail if the server has changed their tools.
      if (sessionLost(error, live.transport)) this.#lost(live)
    }
  }

  #take(offer: Offer): void {
    this.#listedAt = this.#options.clock.now()
    this.#offer = offer
    this.#options.offered(offer)
  }
}

const endingOf = (transport: Transport): string | null =>
  'ending' in transport && typeof transport.ending === 'string' ? transport.ending : null

const tellProgress =
  (onOutput: (text: string) => void) =>
  ({ progress, total, message }: Progress): void => {
    const share = total === undefined ? `${progress}` : `${progress}/${total}`
    onOutput(`${`${share} ${message ?? ''}`.trim().slice(0, 500).toWellFormed()}\n`)
  }
