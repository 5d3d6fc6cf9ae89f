import type { Hono } from 'hono'
import { createApp } from '../../api/http/app.ts'
import { type FakeServices, fakeServices } from '../support/fakes/services.ts'

export const TOKEN = 'a-token-that-is-long-enough-for-every-test'

export interface Asked {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly raw?: string | Uint8Array<ArrayBuffer>
}

/** An app over stand-ins, and a way to ask it with the token. */
export function testApp(options: Parameters<typeof fakeServices>[0] = {}, app: { heartbeatMs?: number } = {}) {
  const services: FakeServices = fakeServices(options)
  const faults: unknown[] = []
  const http = createApp(services, {
    token: TOKEN,
    hosts: ['keepup.example'],
    maxBodyBytes: 4096,
    heartbeatMs: app.heartbeatMs ?? 15_000,
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
  const started = async (task: string, more: Record<string, unknown> = {}): Promise<string> => {
    const response = await ask('POST', '/v1/runs', { body: { task, ...more } })
    const { runId } = (await response.json()) as { runId: string }
    return runId
  }
  return { services, http: http as unknown as Hono, ask, started, faults }
}

/** An answer's body; tests look at it with matchers. */
export const bodyOf = async <T = Record<string, unknown>>(response: Response): Promise<T> =>
  (await response.json()) as T
