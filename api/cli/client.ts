import { randomUUID } from 'node:crypto'
import { type ClientResponse, hc } from 'hono/client'
import type { App } from '../http/app.ts'
import { LAGS } from '../http/lag-headers.ts'
import type { ProblemBody } from '../operations/schemas.ts'
import type { Backend } from '../process/owner/backend.ts'

/** An error answer of the API. `code` is stable. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string
  readonly status: number
  readonly errors: NonNullable<ProblemBody['errors']>
  constructor(problem: ProblemBody) {
    super(problem.detail)
    this.code = problem.code
    this.status = problem.status
    this.errors = problem.errors ?? []
  }
}

/** The typed client of the HTTP API over any backend. `onLag`: called when an answer is older than the log. */
export const clientOf = (backend: Pick<Backend, 'fetch'>, onLag: () => void) =>
  hc<App>('http://localhost', {
    fetch: async (input: Request | string | URL, init?: RequestInit) => {
      const response = await backend.fetch(new Request(input, init))
      if (response.headers.has(LAGS)) onLag()
      return response
    },
  })
export type Client = ReturnType<typeof clientOf>

/** A new Idempotency-Key. Repeated sends with one key count as one command. */
export const asOne = () => ({ 'idempotency-key': randomUUID() })

/** The routes' `default` answer (a problem) has every status in its type. Exclude it. */
type Success<R> =
  R extends ClientResponse<infer T, infer S, infer _F>
    ? S extends 200 | 201
      ? Exclude<T, { code: string; detail: string }>
      : never
    : never

/** The body of a successful answer. Rejects with {@link Refused} otherwise. */
export async function take<R extends ClientResponse<unknown, number, string>>(answer: Promise<R>): Promise<Success<R>> {
  const response = await answer
  if (!response.ok) throw await refusal(response)
  return (await response.json()) as Success<R>
}

/** Reads the problem of an error answer. */
export async function refusal(response: { status: number; text(): Promise<string> }): Promise<Refused> {
  const text = await response.text()
  try {
    return new Refused(JSON.parse(text) as ProblemBody)
  } catch {
    const detail = `the answer cannot be read (status ${response.status})`
    return new Refused({ type: '', title: '', status: response.status, code: 'UNREADABLE', detail })
  }
}
