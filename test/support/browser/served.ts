import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { ScriptInput } from '../../../adapters/models/scripted/script.ts'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { type LocalBackend, localBackend } from '../../../api/process/owner/local.ts'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import { giveSign, workspaces, writeScript } from '../../api/support/script.ts'

export interface Served {
  readonly url: string
  readonly backend: LocalBackend
  readonly model: string
  readonly workspace: () => string
  readonly giveSign: typeof giveSign
  /** A request with the token. */
  ask<T = Record<string, never>>(method: string, path: string, body?: unknown): Promise<T>
  /** Answers an approval with the hash of its current question. */
  answer(toolCallId: string, body: object): Promise<unknown>
  /** Starts a run and drives it like `serve`. */
  start(task: string, more?: Record<string, unknown>): Promise<string>
  /** Starts a run and waits until its drive has ended. */
  driven(task: string, more?: Record<string, unknown>): Promise<string>
  /** Opens the page through a link. */
  open(page: Page, path?: string): Promise<void>
  /** The number of open connections to the event stream. */
  streams(): number
  /** `keep`: do not remove the data folder; the caller owns it. */
  close(options?: { keep?: boolean }): Promise<void>
}

/** The faults of a page: loads from other origins, exceptions, refusals by its policy. A test expects none. */
export function troubles(page: Page): string[] {
  const found: string[] = []
  page.on('pageerror', (error) => found.push(`thrown: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    // The browser also logs refused requests.
    if (message.type() === 'error' && !/^Failed to load resource/.test(text)) found.push(`console: ${text}`)
  })
  return found
}

/** The real program over a data folder, like `keepup serve`, with the scripted model of the API's tests. */
export async function serve(
  options: {
    data?: string
    port?: number
    agents?: readonly AgentBackend[]
    /** Scripts of models, by name. */
    scripts?: Readonly<Record<string, ScriptInput>>
    settings?: object
  } = {},
): Promise<Served> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-web-')))
  const data = options.data ?? join(root, 'data')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const model = writeScript(root)
  const flags = { data, port: options.port ?? 0, model, by: 'ada', ...options.settings }
  const config = loadConfig({ flags, env: {} })
  const { agents = [], scripts = {} } = options
  const services = await openServices(config, 'owner', { autoDrive: true }, { agents, scripts })
  const faults: unknown[] = []
  const backend = await localBackend(services, { config, env: {}, tcp: true, onFault: (error) => faults.push(error) })
  const url = backend.url!
  let streams = 0
  const counted = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    if (request.socket.localPort !== Number(new URL(url).port) || !request.url!.startsWith('/v1/events')) return
    streams++
    response.once('close', () => streams--)
  }
  subscribe('http.server.request.start', counted)
  const ask: Served['ask'] = async (method, path, body) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const answer = await backend.fetch(new Request(`http://localhost${path}`, init))
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  const answer: Served['answer'] = async (toolCallId, body) => {
    const path = `/v1/approvals/${toolCallId}`
    const { questionHash } = await ask<{ questionHash: string }>('GET', path)
    return ask('POST', path, { questionHash, ...body })
  }
  const start: Served['start'] = async (task, more = {}) => {
    const tools = more.workspace === undefined ? {} : { tools: ['list_dir', 'read_file', 'write_file'] }
    const body = { task, model, by: 'ada', limits: { maxTurns: 10_000 }, ...tools, ...more }
    return (await ask<{ runId: string }>('POST', '/v1/runs', body)).runId
  }
  return {
    ...{ url, backend, model, giveSign, ask, answer, start },
    streams: () => streams,
    workspace: workspaces(root),
    async driven(task, more) {
      const id = await start(task, more)
      await services.drivers.ended(id)
      return id
    },
    async open(page, path = '/') {
      const { url: link } = await ask<{ url: string }>('POST', '/v1/session/codes', { by: 'ada' })
      await page.goto(link.replace(/\/#/, `${path}#`))
      await page.waitForSelector('header.top')
    },
    async close({ keep = false } = {}) {
      await backend.close()
      unsubscribe('http.server.request.start', counted)
      if (!keep) rmSync(root, { recursive: true, force: true })
      if (faults.length > 0) throw new Error(`the server met faults: ${faults.map(String).join('; ')}`)
    },
  }
}
