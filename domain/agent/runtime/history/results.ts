import { resultText } from '../../../calls/result-text.ts'
import type { RecordedEvent } from '../../../log/envelope.ts'
import { LogError } from '../../../log/errors.ts'
import { agentStream } from '../../../log/ids.ts'
import { idOf, ownerOf } from '../../../log/owner.ts'
import { SALT_BYTES } from '../../../log/seal.ts'
import { blobParts, checkAttached } from '../../../stream/runtime/attachments.ts'
import { bodyOf } from '../../../stream/runtime/bodies.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import { streamOfAgent } from '../../../tree/runtime/stream-of-agent.ts'
import { decode } from '../../events/codec.ts'
import type { EventOf } from '../../events/events.ts'
import { firstAgentEvent } from './history.ts'
import { seenResults } from './seen-results.ts'

/**
 * The stored result of a call as UTF-8 text: a string unchanged, other values as JSON, a failure as code and message.
 */
interface WholeResult {
  readonly toolCallId: string
  readonly toolName: string
  readonly success: boolean
  /** The source of the result if the tool marked it as untrusted, for example `web`. */
  readonly untrusted?: string
  /** In bytes. */
  readonly size: number
  /** The bytes from `from` to `to` (exclusive), in parts. */
  parts(from: number, to: number): AsyncIterable<Uint8Array>
}

/** The event that contains a call's result. `erased`: the result was erased. */
export type FoundResult = { readonly end: RecordedEvent } | { readonly erased: RecordedEvent } | null

/** The agent that made the call; null: not a call id. Calls before a fork point belong to the source run. */
export const agentOfCall = (toolCallId: string): string | null => /^(.+)\.t\d+\.c\d+$/.exec(toolCallId)?.[1] ?? null

/**
 * Finds the event that ended a call in an agent's history, including the source of a fork. The first search for a call
 * reads the headers of its stream. Later searches read only the event. Null: there is none.
 */
export async function findResult(stores: Stores, agentId: string, toolCallId: string): Promise<FoundResult> {
  const owner = agentOfCall(toolCallId)
  if (owner === null) return null
  const { places } = seenResults(stores.log)
  const key = JSON.stringify([agentId, toolCallId])
  const place = places.get(key)
  const known = place && (await endAt(stores, place.stream, place.revision, toolCallId))
  if (known) return known
  let limit = Number.MAX_SAFE_INTEGER
  let stream = (await streamOfAgent(stores.log, agentId)) ?? agentStream(agentId)
  while (idOf(stream) !== owner) {
    const first = await firstAgentEvent(stores, stream)
    if (first?.type !== 'forked') return null
    stream = first.body.stream
    limit = first.body.revision + 1
  }
  for await (const page of stores.log.read(stream, { bodies: false, limit })) {
    const end = page.find((event) => isEnd(event, toolCallId))
    if (end === undefined) continue
    places.set(key, { stream, revision: end.header.revision })
    return endAt(stores, stream, end.header.revision, toolCallId)
  }
  return null
}

async function endAt(stores: Stores, stream: string, from: number, toolCallId: string): Promise<FoundResult> {
  for await (const [event] of stores.log.read(stream, { from, limit: 1 })) {
    if (event === undefined || !isEnd(event, toolCallId)) return null
    return event.erased ? { erased: event } : { end: event }
  }
  return null
}

const isEnd = ({ header }: RecordedEvent, toolCallId: string): boolean =>
  header.type === 'tool_call_end' && header.toolCallId === toolCallId

/**
 * The whole result at the event that ended a call. Verifies the result before it returns a part. `again` false: skips
 * the verification if this process has already verified the result. Readers that request one part at a time use this.
 * Rejects with BODY_ERASED, BLOB_MISSING, LOG_CORRUPT, or UNKNOWN_EVENT if the result is encrypted.
 */
export async function resultAt(stores: Stores, end: RecordedEvent, again = true): Promise<WholeResult> {
  const event = decode(end.header, await bodyOf(stores, end)) as EventOf<'tool_call_end'>
  const { toolName, success, result, error, attachment, detail } = event.body
  const mark = typeof detail?.untrusted === 'string' ? { untrusted: detail.untrusted } : {}
  const about = { toolCallId: end.header.toolCallId ?? '', toolName, success, ...mark }
  if (attachment === undefined) {
    const bytes = Buffer.from(success ? resultText(result ?? null) : `${error?.code}: ${error?.message}`)
    return { ...about, size: bytes.length, parts: (from, to) => once(bytes.subarray(from, to)) }
  }
  const { header } = end
  const { hash, size, cipher } = attachment
  if (cipher !== undefined) {
    const what = `the result at ${header.stream}@${header.revision} is enciphered with ${cipher.alg}`
    throw new LogError('UNKNOWN_EVENT', `${what}, which this keepup cannot read; use a newer one`)
  }
  const { proved } = seenResults(stores.log)
  const key = `${ownerOf(header)}/${hash}`
  if (again || !proved.get(key)) await checkAttached(stores.blobs, header, attachment)
  proved.set(key, true)
  return {
    ...about,
    size,
    parts: (from, to) =>
      blobParts(stores.blobs, ownerOf(header), hash, SALT_BYTES + from, SALT_BYTES + Math.min(to, size)),
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
