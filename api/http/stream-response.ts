import type { Clock } from '../../domain/ports/index.ts'

/** A piece of a stream: text for the wire, or its bytes. */
export type WirePiece = string | Uint8Array

const HEADERS = {
  sse: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  text: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  json: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  tar: { 'content-type': 'application/x-tar', 'cache-control': 'no-store' },
  ndjson: { 'content-type': 'application/x-ndjson; charset=utf-8', 'cache-control': 'no-store' },
} as const

const utf8 = new TextEncoder()

export interface StreamOptions {
  readonly format: keyof typeof HEADERS
  /** Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent after each `ms` without a piece from the source. Absent: no heartbeat. */
  readonly heartbeat?: { readonly ms: number; readonly text: () => string; readonly clock: Clock }
  /** Called at the close, to wake a source that may wait forever. */
  readonly onClose?: () => void
}

/**
 * A pull-based streaming response. The source is read only after the consumer has taken the last piece, so a slow
 * consumer costs no memory. A failing source breaks the connection instead of ending it cleanly. When the consumer
 * leaves, the source is released.
 */
export function streamResponse(
  source: AsyncIterator<WirePiece> | Iterator<WirePiece>,
  options: StreamOptions,
): Response {
  const over = new AbortController()
  let said = 0
  /**
   * The consumer has taken all pieces and waits for the source. A heartbeat then cannot separate two pieces that belong
   * together.
   */
  let asked = false
  const close = () => {
    over.abort()
    options.onClose?.()
    // No consumer is left to receive an error.
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

const bytesOf = (piece: WirePiece) => (typeof piece === 'string' ? utf8.encode(piece) : piece)

/** Sends a heartbeat after each silence of the source, if the consumer has taken everything before it. */
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

/** The first lines of a server-sent event, before its data. */
export function sseLines(event: { id?: string; event?: string }): string {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`
  return event.event === undefined ? id : `${id}event: ${event.event}\n`
}

/** One server-sent event. `data` is one line of JSON. */
export function sse(event: { id?: string; event?: string; data?: unknown }): string {
  const data = event.data === undefined ? '' : `data: ${JSON.stringify(event.data)}\n`
  return `${sseLines(event)}${data}\n`
}
