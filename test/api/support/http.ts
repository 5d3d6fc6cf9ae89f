import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { createApp } from '../../../api/http/app.ts'
import type { Services } from '../../../api/operations/services.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { formatCursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import { workspaces, writeScript } from './script.ts'

export const TOKEN = 'a-token-that-is-long-enough-for-every-test'

export interface Asked {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly raw?: string | Uint8Array<ArrayBuffer>
}

/** Tools that need no sandbox. */
const TOOLS = ['list_dir', 'read_file', 'write_file']

/** An app over opened services, and ways to ask it with the token. */
export function appOver(
  services: Services,
  model: string,
  { heartbeatMs = 15_000, maxBodyBytes = 4096, token = () => TOKEN } = {},
) {
  const faults: unknown[] = []
  const http = createApp(services, {
    token,
    hosts: ['keepup.example'],
    maxBodyBytes,
    heartbeatMs,
    version: '1.2.3',
    onFault: (error) => faults.push(error),
  })
  const ask = async (method: string, path: string, { body, headers, raw }: Asked = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    return http.request(`http://localhost${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    })
  }
  /** Starts a run; with a workspace it gets the tools for it. */
  const started = async (task: string, more: { workspace?: string; [key: string]: unknown } = {}): Promise<string> => {
    const tools = more.workspace === undefined ? {} : { tools: TOOLS }
    const body = { task, model, limits: { maxTurns: 10_000 }, ...tools, ...more }
    const response = await ask('POST', '/v1/runs', { body })
    if (response.status !== 201) throw new Error(await response.text())
    return ((await response.json()) as { runId: string }).runId
  }
  /** Starts a run and waits until its drive has ended. */
  const driven = async (...args: Parameters<typeof started>): Promise<string> => {
    const id = await started(...args)
    await services.drivers.ended(id)
    return id
  }
  /** Answers a call's approval (or doubt) as a person does: for the question as it is shown now. */
  const answer = async (toolCallId: string, body: object, kind: 'approvals' | 'doubts' = 'approvals') => {
    const path = `/v1/${kind}/${toolCallId}`
    const { questionHash } = (await (await ask('GET', path)).json()) as { questionHash: string }
    return ask('POST', path, { body: { questionHash, ...body } })
  }
  return { services, answer, http: http as unknown as Hono, ask, started, driven, faults }
}

/** A data folder of its own with everything opened in it; `close` removes it. */
export async function openWorld(
  options: {
    autoDrive?: boolean
    heartbeatMs?: number
    maxBodyBytes?: number
    settings?: object
    agents?: readonly AgentBackend[]
  } = {},
) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-api-')))
  const data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  const model = writeScript(root)
  const config = ConfigSchema.parse({ data, model, ...options.settings })
  const { autoDrive = false, agents } = options
  const services = await openServices(config, 'owner', { autoDrive }, agents && { agents })
  return {
    root,
    data,
    model,
    config,
    workspace: workspaces(root),
    ...appOver(services, model, options),
    async close() {
      await services.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** An answer's body; tests look at it with matchers. */
export const bodyOf = async <T = Record<string, unknown>>(response: Response): Promise<T> =>
  (await response.json()) as T

/** The events of the log: all of them, or an agent's own. */
export async function eventsIn({ log }: Services, agentId?: string): Promise<RecordedEvent[]> {
  const all: RecordedEvent[] = []
  const pages = agentId === undefined ? log.readAll(null) : log.read(agentStream(agentId))
  for await (const page of pages) all.push(...page)
  return all
}

export const cursorOf = ({ log }: Services, event: RecordedEvent): string => formatCursor(log.cursor(event))
