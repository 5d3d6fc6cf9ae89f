import type { Clock } from '../../domain/ports/index.ts'

/** A piece of a stream: text for the wire, or its bytes. */
export type Piece = string | Uint8Array

const HEADERS = {
  sse: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  text: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  json: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  ndjson: { 'content-type': 'application/x-ndjson; charset=utf-8', 'cache-control': 'no-store' },
} as const

const utf8 = new TextEncoder()

export interface StreamOptions {
  readonly format: keyof typeof HEADERS
  /** Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent whenever the source has had nothing to say for `ms`; absent: silence is silence. */
  readonly heartbeat?: { readonly ms: number; readonly text: () => string; readonly clock: Clock }
  /** Wakes a source that waits for what may never come. */
  readonly onClose?: () => void
}

/**
 * A streaming response that is pulled: the source is asked for the next piece only when the consumer has taken the last
 * one, so that a slow consumer costs no memory. A source that fails breaks the connection off; it never ends cleanly. One
 * whose consumer has left is released.
 */
export function streamResponse(source: AsyncIterator<Piece> | Iterator<Piece>, options: StreamOptions): Response {
  const over = new AbortController()
  let said = 0
  /** The consumer has taken all, and the source was asked for more: no piece is parted from the one that goes on with it. */
  let asked = false
  const close = () => {
    over.abort()
    options.onClose?.()
    // No consumer is left to hear of a failure.
    Promise.resolve(source.return?.()).catch(() => undefined)
  }
  const { status = 200, format, headers, heartbeat } = options
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (heartbeat) void beat(controller, heartbeat, { lastSaid: () => said, isAsked: () => asked }, over.signal)
      },
      async pull(controller) {
        try {
          asked = true
          const got = await source.next()
          asked = false
          if (over.signal.aborted) return
          if (heartbeat) said = heartbeat.clock.now()
          if (!got.done) return controller.enqueue(bytesOf(got.value))
          close()
          controller.close()
        } catch (error) {
          if (over.signal.aborted) return
          close()
          controller.error(error)
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers: { ...HEADERS[format], ...headers } })
}

const bytesOf = (piece: Piece) => (typeof piece === 'string' ? utf8.encode(piece) : piece)

/** Speaks after each silence of a source that is asked, while the consumer has taken what was said before. */
async function beat(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { ms, text, clock }: NonNullable<StreamOptions['heartbeat']>,
  { lastSaid, isAsked }: { lastSaid(): number; isAsked(): boolean },
  over: AbortSignal,
): Promise<void> {
  let last = clock.now()
  while (!over.aborted) {
    const silent = clock.now() - Math.max(last, lastSaid())
    await clock.sleep(Math.max(1, ms - silent), over).catch(() => undefined)
    if (over.aborted) return
    if (clock.now() - Math.max(last, lastSaid()) < ms) continue
    last = clock.now()
    if (isAsked() && controller.desiredSize === 0) controller.enqueue(utf8.encode(text()))
  }
}

/** The first lines of a server-sent event, which its data follow. */
export function sseLines(event: { id?: string; event?: string }): string {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`
  return event.event === undefined ? id : `${id}event: ${event.event}\n`
}

/** One server-sent event. `data` is one line of JSON. */
export function sse(event: { id?: string; event?: string; data?: unknown }): string {
  const data = event.data === undefined ? '' : `data: ${JSON.stringify(event.data)}\n`
  return `${sseLines(event)}${data}\n`
}
