import { createHmac } from 'node:crypto'

// Webhooks in the form of Standard Webhooks (github.com/standard-webhooks/standard-webhooks).

/** The time limit of one delivery, in ms. */
const LIMIT_MS = 10_000
/** The most bytes of an answer that are read, so that its connection can serve again. */
const MAX_ANSWER_BYTES = 4 * 1024
const BASE64_SECRET = 'whsec_'

export interface WebhookMessage {
  readonly url: string
  readonly secret: string
  /** The same for every repetition of a message. */
  readonly id: string
  /** In ms since the epoch. */
  readonly now: number
  readonly body: string
}

/** `status` null: there was no answer. `fault` null: the receiver took the message. Faults name no part of the URL. */
export interface WebhookAnswer {
  readonly status: number | null
  readonly fault: string | null
}

/** Whether messages may be sent to a URL: over https, or over http to this machine. */
export function isWebhookUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)
}

/** The shortest key of a signature, in bytes. */
const MIN_KEY_BYTES = 16

/** The key in a secret: base64 after `whsec_`, otherwise the text itself. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(BASE64_SECRET) ? Buffer.from(secret.slice(BASE64_SECRET.length), 'base64') : Buffer.from(secret)

/** Sends a signed message once. Redirects are not followed. Rejects only when the signal aborts. */
export async function postWebhook(message: WebhookMessage, signal: AbortSignal): Promise<WebhookAnswer> {
  const { url, secret, id, now, body } = message
  const key = keyOf(secret)
  if (key.length < MIN_KEY_BYTES)
    return { status: null, fault: `the secret has ${key.length} bytes; set one of at least ${MIN_KEY_BYTES}` }
  const timestamp = String(Math.floor(now / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: limit })
    await readSome(response).catch(() => undefined)
    return { status: response.status, fault: response.ok ? null : faultOf(response.status) }
  } catch (error) {
    signal.throwIfAborted()
    return { status: null, fault: limit.aborted ? `no answer within ${LIMIT_MS / 1_000} s` : causeOf(error) }
  }
}

async function readSome({ body }: Response): Promise<void> {
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) return
  }
}

const faultOf = (status: number): string =>
  status >= 300 && status < 400
    ? `it answers ${status}; redirects are not followed, so set the URL that it leads to`
    : `it answers ${status}`

function causeOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  return `it cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`
}
