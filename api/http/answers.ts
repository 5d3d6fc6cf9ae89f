import type { ClientResponse } from 'hono/client'
import type { ProblemBody } from '../operations/schemas.ts'

// Answers of the HTTP API as its clients read them: the command line and the page.

/** An error answer of the API. `code` is stable. The message contains cause and remedy. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string
  readonly status: number
  readonly errors: NonNullable<ProblemBody['errors']>
  constructor(problem: Pick<ProblemBody, 'code' | 'status' | 'detail' | 'errors'>) {
    super(problem.detail)
    this.code = problem.code
    this.status = problem.status
    this.errors = problem.errors ?? []
  }
}

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
    const { status } = response
    return new Refused({ code: 'UNREADABLE', status, detail: `the server answered with status ${status} alone` })
  }
}

/** 128 random bits in hex. Not `randomUUID`, which browsers offer only in a secure context. */
export const randomId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, '0')).join('')

/** A new Idempotency-Key. Repeated sends with one key count as one command. */
export const asOne = () => ({ 'idempotency-key': randomId() })
