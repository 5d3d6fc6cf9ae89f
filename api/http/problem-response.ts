import type { Problem } from '../operations/problem.ts'
import type { ProblemBody } from '../operations/schemas.ts'
import { httpStatusOf } from './status.ts'

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Token needed',
  403: 'Refused',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition failed',
  413: 'Request too large',
  415: 'Unsupported media type',
  416: 'Range not satisfiable',
  422: 'Cannot be done',
  429: 'Too many requests',
  500: 'Internal error',
  501: 'Not implemented',
  503: 'Not available',
  507: 'No room',
}

/** The RFC 9457 body of a refusal. */
export function problemBody(p: Problem<string>): ProblemBody {
  const status = httpStatusOf(p)
  return {
    type: `urn:keepup:problem:${p.code}`,
    title: TITLES[status] ?? 'Error',
    status,
    code: p.code,
    detail: p.message,
    ...(p.errors ? { errors: [...p.errors] } : {}),
  }
}

export function problemResponse(p: Problem<string>, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(problemBody(p)), {
    status: httpStatusOf(p),
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
}
