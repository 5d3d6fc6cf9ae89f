import { hc } from 'hono/client'
import { Refused } from '../../http/answers.ts'
import type { App } from '../../http/app.ts'
import { expired, session } from './session.ts'

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

/** The text of an error for a person. */
export const errorText = (error: unknown): string =>
  error instanceof Refused
    ? error.message
    : error instanceof TypeError
      ? 'the server does not answer; look whether "keepup serve" is running'
      : String(error instanceof Error ? error.message : error)
