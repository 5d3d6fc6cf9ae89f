import type { z } from 'zod'
import { ToolError } from '../../domain/calls/errors.ts'
import { firstIssue } from '../../domain/log/issues.ts'
import { jsonSize } from '../../domain/log/json-size.ts'
import { requestFailure, statusFailure } from './failures.ts'

/** The time limit of a request to a search engine, in ms. */
export const SEARCH_MS = 20_000
/** The longest answer, in bytes. */
const MAX_BYTES = 4 * 2 ** 20
const MAX_DEPTH = 32

/**
 * Sends a request to a search engine and checks its answer. The address comes from the settings, so it may be private.
 * A redirect is an error, because the token must not reach another host. Rejects with ToolError, or with the signal's
 * reason.
 */
export async function askEngine<T>(
  url: URL,
  headers: Readonly<Record<string, string>>,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const late = AbortSignal.timeout(SEARCH_MS)
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.any([signal, late]),
    })
    const failure = statusFailure(url.host, response.status, Object.fromEntries(response.headers))
    if (failure !== null) {
      await response.body?.cancel()
      throw failure
    }
    return checked(url.host, await boundedText(response), schema)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (late.aborted)
      throw new ToolError('TIMEOUT', `${url.host} did not answer within ${SEARCH_MS} ms`, { transient: true })
    throw requestFailure(error, url.host)
  }
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > MAX_BYTES) throw new ToolError('EXECUTION_FAILED', `the answer is larger than ${MAX_BYTES} bytes`)
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

function checked<T>(host: string, text: string, schema: z.ZodType<T>): T {
  const unusable = (why: string) =>
    new ToolError('EXECUTION_FAILED', `${host} gave an answer that cannot be used: ${why}`)
  if (jsonSize(text).depth > MAX_DEPTH) throw unusable('its JSON is nested too deep')
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw unusable('expected JSON; a SearXNG instance must list json among its search.formats')
  }
  const parsed = schema.safeParse(answer)
  if (!parsed.success) throw unusable(firstIssue(parsed.error, 'answer'))
  return parsed.data
}
