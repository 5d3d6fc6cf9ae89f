import { setImmediate } from 'node:timers/promises'
import { yielder } from '../../domain/stream/runtime/yield-to-event-loop.ts'
import { FOREIGN, SseReader } from '../web/sse-reader.ts'
import { MAX_MESSAGE_BYTES, requireParsable } from './message-bounds.ts'

/** The limit for all events of one answer, in bytes. */
const MAX_STREAM_BYTES = 64 * 2 ** 20

/**
 * A `fetch` for streamable HTTP. Follows no redirect, because headers with secrets must not reach another host. Rejects
 * or aborts an answer with a message beyond the bounds. `refused` gets the error of a stream, because the protocol's
 * client does not pass it to the waiting call.
 */
export const mcpFetch =
  (refused: (error: Error) => void): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' })
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new Error('the server redirects to another address; name that address in the settings')
    }
    if (response.body === null) return response
    const { status, statusText, headers } = response
    const streams = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
    const body = streams ? eventsOf(response.body, refused) : await documentOf(response.body)
    return new Response(body, { status, statusText, headers })
  }

/** The text of an answer that is one document. Rejects beyond the bounds. */
async function documentOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > MAX_MESSAGE_BYTES) throw new Error(`the server sent more than ${MAX_MESSAGE_BYTES} bytes in one answer`)
    pieces.push(piece)
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces))
  requireParsable(text)
  await setImmediate()
  return text
}

/** The events of a stream, one per chunk. Yields to the event loop between events. */
function eventsOf(body: ReadableStream<Uint8Array>, refused: (error: Error) => void): ReadableStream<Uint8Array> {
  const reader = new SseReader(FOREIGN)
  const yieldToEventLoop = yielder()
  let size = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(piece, controller) {
        try {
          size += piece.length
          if (size > MAX_STREAM_BYTES)
            throw new Error(`the server sent more than ${MAX_STREAM_BYTES} bytes in one answer`)
          for (const { name, data } of reader.push(piece)) {
            if (data === null) continue
            requireParsable(data)
            await yieldToEventLoop()
            controller.enqueue(Buffer.from(written(name, data)))
          }
        } catch (error) {
          refused(error as Error)
          throw error
        }
      },
    }),
  )
}

/** Omits ids and reconnection delays: keepup decides when to reconnect. */
const written = (name: string, data: string): string =>
  `event: ${name || 'message'}\ndata: ${data.replaceAll('\n', '\ndata: ')}\n\n`
