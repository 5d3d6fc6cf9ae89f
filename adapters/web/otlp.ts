// Requests of OTLP/HTTP in JSON (opentelemetry.io/docs/specs/otlp).

/** The time limit of one request, in ms. */
const LIMIT_MS = 10_000
/** The most bytes of an answer that are read. */
const MAX_ANSWER_BYTES = 16 * 1024
/** The statuses after which the specification repeats a request. */
const TRANSIENT = new Set([429, 502, 503, 504])
/** The longest wait that a collector may ask for, in ms. */
const LONGEST_WAIT_MS = 3_600_000

/**
 * `fault` null: the collector took the request. `rejected`: which part of a taken request it rejects, and why; null: none.
 * The specification forbids to send that part again. `transient`: a later attempt may succeed. `waitMs`: the time that
 * the collector asks for before it; null: none. Faults name no part of the URL.
 */
export interface OtlpAnswer {
  readonly fault: string | null
  readonly rejected: string | null
  readonly transient: boolean
  readonly waitMs: number | null
}

/** A collector's URL for a signal: an address without a path gets the path of the specification. */
export function otlpUrl(text: string, path: '/v1/traces' | '/v1/metrics'): string {
  const url = new URL(text)
  if (url.pathname === '/') url.pathname = path
  return url.href
}

/** Sends a request once. Redirects are not followed. Rejects only when the signal aborts. */
export async function postOtlp(
  request: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
): Promise<OtlpAnswer> {
  const { url, body } = request
  const headers = { ...request.headers, 'content-type': 'application/json' }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: limit })
    const text = await readSome(response).catch(() => '')
    if (response.ok) return { fault: null, rejected: rejectedPart(text), transient: false, waitMs: null }
    const { status } = response
    return { ...unsent(faultOf(status)), transient: TRANSIENT.has(status), waitMs: waitOf(response) }
  } catch (error) {
    signal.throwIfAborted()
    const fault = limit.aborted ? `no answer within ${LIMIT_MS / 1_000} s` : causeOf(error)
    return unsent(fault)
  }
}

/** The answer to a request that did not reach the collector. */
export const unsent = (fault: string): OtlpAnswer => ({ fault, rejected: null, transient: true, waitMs: null })

async function readSome({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function rejectedPart(text: string): string | null {
  try {
    const { partialSuccess: part } = JSON.parse(text) as {
      partialSuccess?: { rejectedSpans?: string | number; errorMessage?: string }
    }
    const spans = Number(part?.rejectedSpans ?? 0)
    return spans > 0 ? `it rejects ${spans} spans: ${String(part?.errorMessage ?? '').slice(0, 200)}` : null
  } catch {
    return null
  }
}

/** The header has seconds, or a date. */
function waitOf(response: Response): number | null {
  const text = response.headers.get('retry-after')
  if (text === null) return null
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return ms > 0 ? Math.min(ms, LONGEST_WAIT_MS) : null
}

const faultOf = (status: number): string =>
  status >= 300 && status < 400
    ? `it answers ${status}; redirects are not followed, so set the URL that it leads to`
    : `it answers ${status}`

function causeOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  return `it cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`
}
