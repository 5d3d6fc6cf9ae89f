import { type ClientResponse, hc } from 'hono/client'
import type { App } from '../../http/app.ts'
import type { ProblemBody } from '../../operations/schemas.ts'
import { expired, session } from './session.ts'

/** The API refused. `code` is stable, the message says what is wrong and what to do. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string
  readonly status: number
  constructor(problem: Pick<ProblemBody, 'code' | 'status' | 'detail'>) {
    super(problem.detail)
    this.code = problem.code
    this.status = problem.status
  }
}

/** A request with the session. A server that no longer takes it ends the session. */
export async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  const key = session.value?.key ?? ''
  headers.set('keepup-session', key)
  const answer = await once(input, { ...init, headers })
  if (answer.status !== 401) return answer
  expired(key)
  return session.value === null ? answer : send(input, init)
}

/** Commands to which no answer came: they may have been recorded. By what they ask for. */
const unanswered = new Map<string, string>()

/** A command that is sent again because no answer came is the same one to the server. */
async function once(input: RequestInfo | URL, init: RequestInit & { headers: Headers }): Promise<Response> {
  const own = init.headers.get('idempotency-key')
  if (own === null) return fetch(input, init)
  const what = `${init.method} ${input} ${init.body}`
  const key = unanswered.get(what) ?? own
  init.headers.set('idempotency-key', key)
  unanswered.set(what, key)
  const answer = await fetch(input, init)
  unanswered.delete(what)
  return answer
}

/** The typed client of /v1: its types are those of the server's own routes. */
export const api = hc<App>(location.origin, { fetch: send })

type Success<R> =
  R extends ClientResponse<infer T, infer S, infer _F>
    ? S extends 200 | 201
      ? Exclude<T, { code: string; detail: string }>
      : never
    : never

/** The body of a good answer; rejects with {@link Refused} otherwise. */
export async function take<R extends ClientResponse<unknown, number, string>>(answer: Promise<R>): Promise<Success<R>> {
  const response = await answer
  if (!response.ok) throw await refusalOf(response)
  return (await response.json()) as Success<R>
}

export async function refusalOf(response: { status: number; text(): Promise<string> }): Promise<Refused> {
  const text = await response.text()
  try {
    return new Refused(JSON.parse(text) as ProblemBody)
  } catch {
    return new Refused({
      code: 'UNREADABLE',
      status: response.status,
      detail: `the server answered ${response.status}`,
    })
  }
}

/** Makes a command one request, however often it is sent for want of an answer. Not `randomUUID`, which needs a secure context. */
export const asOne = () => ({
  'idempotency-key': [...crypto.getRandomValues(new Uint8Array(16))]
    .map((n) => n.toString(16).padStart(2, '0'))
    .join(''),
})

/** What a failure says to a person. */
export const told = (error: unknown): string =>
  error instanceof Refused
    ? error.message
    : error instanceof TypeError
      ? 'the server does not answer; look whether "keepup serve" is running'
      : String(error instanceof Error ? error.message : error)
