import { ModelError } from '../../../domain/calls/errors.ts'
import type { Access } from '../exchange.ts'
import { boundedFetch } from '../fetch.ts'
import { fields } from '../fields.ts'

/** Access to OpenAI, or to a server with its API. `headers`: sent with each request, in addition to the key. */
export interface OpenAiAccess extends Access {
  readonly headers?: Readonly<Record<string, string>>
}

/** An error answer. {@link toModelError} reads these members. */
class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly error: unknown
  readonly headers: Headers

  constructor(status: number, error: unknown, text: string, headers: Headers) {
    super(`${status} ${text}`)
    this.status = status
    this.error = error
    this.headers = headers
  }
}

const fetchOpenAi = boundedFetch('openai')

/**
 * Posts a JSON body to `path` below the base URL, once. Sends no Authorization header without a key. Rejects with an
 * ApiError where the status is no success, and with the cause of the network where no answer arrives.
 */
export async function send(
  { apiKey, headers = {} }: OpenAiAccess,
  baseUrl: string,
  path: string,
  body: object,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetchOpenAi(`${baseUrl.replace(/\/$/, '')}${path}`, {
    method: 'POST',
    headers: withHeaders(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }, headers),
    body: JSON.stringify(body),
    signal,
  })
  if (response.ok) return response
  const text = await response.text()
  const { error } = fields(parsed(text))
  const said = error === undefined ? text : JSON.stringify(error)
  throw new ApiError(response.status, error, said === '' ? 'status code (no body)' : said, response.headers)
}

/** Later headers replace earlier ones of the same name in any case. */
function withHeaders(...all: readonly Readonly<Record<string, string>>[]): Headers {
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'keepup',
  })
  for (const [name, value] of all.flatMap(Object.entries<string>)) headers.set(name, value)
  return headers
}

/** The JSON value of a text, or undefined. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The headers that OpenAI's own SDK takes from its environment variables: the organization, the project, and lines of
 * `Name: value`. Throws ModelError where a line is no header.
 */
export function headersOf(read: (name: string) => string | null): Record<string, string> {
  const organization = read('OPENAI_ORG_ID')
  const project = read('OPENAI_PROJECT_ID')
  const custom = (read('OPENAI_CUSTOM_HEADERS') ?? '').split('\n').flatMap((line, i) => {
    const colon = line.indexOf(':')
    return colon < 0 ? [] : [customHeader(line.slice(0, colon).trim(), line.slice(colon + 1).trim(), i + 1)]
  })
  return {
    ...(organization === null ? {} : { 'openai-organization': organization }),
    ...(project === null ? {} : { 'openai-project': project }),
    ...Object.fromEntries(custom),
  }
}

/** The message leaves out the value, which may be a secret. */
function customHeader(name: string, value: string, line: number): readonly [string, string] {
  try {
    new Headers([[name, value]])
  } catch {
    const why = `line ${line} of OPENAI_CUSTOM_HEADERS is no HTTP header; write it as "Name: value"`
    throw new ModelError('INVALID_REQUEST', why)
  }
  return [name, value]
}
