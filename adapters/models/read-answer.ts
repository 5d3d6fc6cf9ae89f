import { ModelError } from '../../domain/calls/errors.ts'
import type { Cut } from '../../domain/calls/model-call.ts'
import { MAX_JSON_DEPTH } from '../../domain/calls/requested-calls.ts'
import { jsonSize } from '../../domain/log/json-size.ts'
import { yielder } from '../../domain/stream/runtime/yield-to-event-loop.ts'
import { EventTooLong, FOREIGN, SseReader } from '../web/sse-reader.ts'
import { BoundReached } from './answer-meter.ts'
import { fields } from './fields.ts'

/** The most decompressed bytes of a response, including the event framing. */
export const MAX_WIRE_BYTES = 64 << 20
/** The most events of a stream. A model's answer has far fewer tokens. */
const MAX_EVENTS = 300_000
/** The largest answer in one document, in bytes. */
const MAX_DOCUMENT_BYTES = 16 << 20
/** The most JSON values in an event or document. Strings are content and have separate bounds. */
const MAX_VALUES = 100_000
/** The limits for reading the rest of a response, so that the connection can be reused. In bytes and ms. */
const TAIL = { bytes: 64 << 10, ms: 1_000 }

/** Assembles an answer from its events or from one document. Any method may throw {@link BoundReached}. */
export interface Assembled {
  /** `size`: characters of the event's JSON. */
  take(event: unknown, size: number): void
  takeWhole(document: unknown, size: number): void
  /** Publishes the text taken since the last call to the followers of the stream. */
  flush(): void
}

/**
 * Reads a response into an answer, in linear time and bounded memory. Cancels the response at the first bound. Returns
 * that bound, or null for a whole answer. Rejects if the response is unreadable or contains an error of the provider.
 */
export async function readAnswer(provider: string, response: Response, answer: Assembled): Promise<Cut | null> {
  const type = mediaType(response)
  try {
    if (type === 'json') await readDocument(response, answer)
    else if (type === 'events') await readEvents(response, answer)
    else {
      await response.body?.cancel()
      const why = `${provider}: the server answered with "${type}", which is not an answer of a model; check the base URL`
      throw new ModelError('INVALID_RESPONSE', why, { transient: true })
    }
    return null
  } catch (error) {
    if (error instanceof BoundReached) return error.cut
    if (error instanceof EventTooLong) return 'bytes'
    throw error
  } finally {
    answer.flush()
  }
}

/**
 * The kind of a response. A server may send JSON despite a request for a stream, and may stream under a plain type or
 * none.
 */
function mediaType({ headers }: Response): string {
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (/^application\/(\w+\+)?json$/.test(type)) return 'json'
  const plain = type === '' || type === 'text/event-stream' || type === 'text/plain' || type.startsWith('application/')
  return plain ? 'events' : type.slice(0, 64)
}

async function readDocument(response: Response, answer: Assembled): Promise<void> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_DOCUMENT_BYTES) throw new BoundReached('bytes')
    parts.push(chunk)
  }
  const text = new TextDecoder().decode(Buffer.concat(parts))
  const document = parsed(text)
  answer.takeWhole(document, text.length)
}

async function readEvents(response: Response, answer: Assembled): Promise<void> {
  if (response.body === null) return
  const stream = response.body.getReader()
  const reader = new SseReader(FOREIGN)
  // Chunks that arrived together are read without a turn of the event loop between them.
  const yieldToEventLoop = yielder()
  let [bytes, events, done] = [0, 0, false]
  try {
    while (!done) {
      const { value, done: ended } = await stream.read()
      if (ended) return
      bytes += value.length
      if (bytes > MAX_WIRE_BYTES) throw new BoundReached('bytes')
      for (const { name, data } of reader.push(value)) {
        if (++events > MAX_EVENTS) throw new BoundReached('bytes')
        if (data === null) continue
        if (data.startsWith('[DONE]')) done = true
        if (done) break
        const event = parsed(data)
        refuseError(name, event, response.headers)
        answer.take(event, data.length)
        done = fields(event).type === 'message_stop'
        await yieldToEventLoop()
      }
      answer.flush()
    }
    void drain(stream)
  } catch (error) {
    stream.cancel().catch(() => undefined)
    throw error
  }
}

/** Parses JSON after a check of its depth and number of values, which cost far more memory than their bytes. */
function parsed(text: string): unknown {
  const { depth, values } = jsonSize(text)
  if (depth > MAX_JSON_DEPTH || values > MAX_VALUES) throw new BoundReached('depth')
  return JSON.parse(text)
}

/** Throws the error that a stream reports by an event `error` or a member `error`. */
function refuseError(name: string, event: unknown, headers: Headers): void {
  const { error } = fields(event)
  if (name !== 'error' && !error) return
  throw Object.assign(new Error('the provider reported an error'), { error: error ?? event, headers })
}

/** Reads the rest after a whole answer, within limits. */
async function drain(stream: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const stop = () => void stream.cancel().catch(() => undefined)
  const late = setTimeout(stop, TAIL.ms)
  late.unref()
  try {
    for (let bytes = 0; bytes <= TAIL.bytes; ) {
      const { value, done } = await stream.read()
      if (done) return
      bytes += value.length
    }
    stop()
  } catch {
    // The connection broke after the answer.
  } finally {
    clearTimeout(late)
  }
}
