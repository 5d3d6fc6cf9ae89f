import { type ClientResponse, hc } from 'hono/client'
import type { App } from '../../http/app.ts'
import type { ProblemBody } from '../../operations/schemas.ts'
import { expired, session } from './session.ts'

/** An error answer of the API. `code` is stable. The message contains cause and remedy. */
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

/** Sends a request with the session's key. A 401 ends the session. */
export async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  const key = session.value?.key ?? ''
  headers.set('keepup-session', key)
  const answer = await once(input, { ...init, headers })
  if (answer.status !== 401) return answer
  expired(key)
  return session.value === null ? answer : send(input, init)
}

/**
 * The idempotency keys of commands without an answer, by method, address and body. The server may have recorded these
 * commands.
 */
const unanswered = new Map<string, string>()

/** Repeats an unanswered command with its first idempotency key, so the server records it once. */
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

/** The typed client of /v1, with the types of the server's routes. */
export const api = hc<App>(location.origin, { fetch: send })

type Success<R> =
  R extends ClientResponse<infer T, infer S, infer _F>
    ? S extends 200 | 201
      ? Exclude<T, { code: string; detail: string }>
      : never
    : never

/** The body of a successful answer. Rejects with {@link Refused} otherwise. */
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

/**
 * A new idempotency key, for a command that may be sent several times. Not `randomUUID`, which needs a secure context.
 */
export const asOne = () => ({
  'idempotency-key': [...crypto.getRandomValues(new Uint8Array(16))]
    .map((n) => n.toString(16).padStart(2, '0'))
    .join(''),
})

/** The text of an error for a person. */
export const errorText = (error: unknown): string =>
  error instanceof Refused
    ? error.message
    : error instanceof TypeError
      ? 'the server does not answer; look whether "keepup serve" is running'
      : String(error instanceof Error ? error.message : error)
