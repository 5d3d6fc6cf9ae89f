import { asOne } from '../http/answers.ts'
import { type AnyOperation, inputMembers, partsOf } from '../operations/operation.ts'
import { UsageError } from './exit.ts'

/**
 * The HTTP request of an operation from the members of its path, query and body. `by`: the person to put into the body.
 * It is used if the operation's body has a member `by` and `members` has none. Throws {@link UsageError} for missing
 * and unknown members.
 */
export function operationRequest(
  { name, http, input }: AnyOperation,
  members: Readonly<Record<string, unknown>>,
  by: string | undefined,
): Request {
  const { params, query, body, unknown } = partsOf(input, members)
  const known = inputMembers(input)
  if (unknown.length > 0) {
    const names = Object.values(known).flatMap(Object.keys)
    throw new UsageError(`${name} takes no "${unknown[0]}"; give ${names.join(', ')}`)
  }
  const [method, template] = http.split(' ') as [string, string]
  const path = template.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
    if (params[key] === undefined) throw new UsageError(`${name} needs ${key}`)
    return encodeURIComponent(String(params[key]))
  })
  const search = new URLSearchParams(query as Record<string, string>)
  const headers = 'idempotency-key' in ((input.headers?.shape ?? {}) as object) ? asOne() : {}
  const sent = 'by' in known.body ? { by, ...body } : body
  return new Request(`http://localhost${path}${search.size === 0 ? '' : `?${search}`}`, {
    method,
    headers: { ...headers, ...(input.body !== undefined && { 'content-type': 'application/json' }) },
    ...(input.body !== undefined && { body: JSON.stringify(sent) }),
  })
}
