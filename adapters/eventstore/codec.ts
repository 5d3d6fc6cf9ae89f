import type { AllStreamRecordedEvent } from '@eventstore/db-client'
import type { DamagedEvent } from '../../domain/log/damage.ts'
import { FORMAT, type Header, type RecordedEvent, type SealedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import { isHeader } from '../../domain/log/header.ts'
import { eventId, sentHeader } from '../../domain/log/seal.ts'
import type { BinaryEvent } from './append-message.ts'
import { tombstoned } from './errors.ts'

// Storage format: the body's bytes are the event's data, as binary; hash and canonical header are its metadata.

const EMPTY = new Uint8Array()
const utf8 = new TextEncoder()

/** A sealed event as the client takes it. */
export function encode(event: SealedEvent): BinaryEvent {
  return {
    id: event.id,
    type: event.header.type,
    contentType: 'application/octet-stream',
    // Anything but a plain Uint8Array would be written as JSON of its members.
    data: event.body ? new Uint8Array(event.body.buffer, event.body.byteOffset, event.body.byteLength) : EMPTY,
    metadata: utf8.encode(`{"hash":"${event.hash}","header":${sentHeader(event)}}`),
  }
}

/** The name on the server of a stream, or the stream of such a name. */
export const nameOf = (namespace: string, stream: string) => `${namespace}.${stream}`

/**
 * An event of our namespace as it was sealed. Throws `LOG_FOREIGN` for what this program did not write there, `LOG_NEWER` for
 * what a newer one did, `LOG_CORRUPT` where it does not stand where it was sealed for.
 */
export function decode(namespace: string, event: AllStreamRecordedEvent): RecordedEvent {
  const { header, hash } = metadataOf(event)
  const { stream, revision, body } = header
  const place = placeOf(event)
  if (event.streamId !== nameOf(namespace, stream))
    throw new LogError(
      'LOG_FOREIGN',
      `${place} was copied from ${stream}, which keepup never does; let nothing else write to streams of this namespace`,
    )
  if (event.revision !== BigInt(revision))
    throw new LogError(
      'LOG_CORRUPT',
      `${place} was sealed as event ${revision}: the stream was deleted and written to again. Restore a backup of the ` +
        'server',
    )
  const data = event.data as Uint8Array
  if (
    event.id !== eventId(hash) ||
    event.type !== header.type ||
    data.length !== (body.place === 'blob' ? 0 : body.size)
  )
    throw new LogError('LOG_CORRUPT', `${place} is not what was sealed; restore a backup of the server`)
  return { header, body: body.place === 'blob' ? null : data, hash, id: event.id, position: positionOf(event) }
}

/** An event of one of our streams that {@link decode} has refused. */
export function damageOf(
  event: AllStreamRecordedEvent,
  stream: string,
  error: { readonly code: string; readonly message: string },
): DamagedEvent {
  const isTombstone = event.type === TOMBSTONE
  const codes = { LOG_FOREIGN: 'FOREIGN', LOG_NEWER: 'FORMAT_NEWER' } as const
  const code = isTombstone ? 'TOMBSTONED' : (codes[error.code as keyof typeof codes] ?? 'ALTERED')
  return {
    stream,
    // The server numbers a tombstone with the greatest 64-bit number.
    revision: isTombstone || event.revision > MOST ? null : Number(event.revision),
    position: Number(event.position.commit),
    id: event.id,
    type: shown(event.type),
    at: event.created.toISOString(),
    code,
    message: error.message,
  }
}

const TOMBSTONE = '$streamDeleted'
const MOST = BigInt(Number.MAX_SAFE_INTEGER)

/** The hash that an event bears, without looking further; null where it is not one of ours. */
export function hashOf(event: AllStreamRecordedEvent): string | null {
  const { hash } = (event.metadata ?? {}) as { hash?: unknown }
  return typeof hash === 'string' ? hash : null
}

/**
 * Where the event stands in the whole log. Positions of this log format are byte offsets and their two halves are equal;
 * as a number they are exact below 2^53. Throws `LOG_FOREIGN` where that does not hold.
 */
export function positionOf({ position, streamId }: Pick<AllStreamRecordedEvent, 'position' | 'streamId'>): number {
  const { commit, prepare } = position
  if (commit !== prepare || commit > MOST)
    throw new LogError(
      'LOG_FOREIGN',
      `an event of ${streamId} stands at ${commit}/${prepare}: the halves differ (an explicit transaction of the old ` +
        'protocol), or are above 2^53. keepup cannot use such a log; start a new one',
    )
  return Number(commit)
}

function metadataOf(event: AllStreamRecordedEvent): { header: Header; hash: string } {
  if (event.type === TOMBSTONE) throw tombstoned(event.streamId)
  const place = placeOf(event)
  const { header, hash } = (event.metadata ?? {}) as { header?: Header; hash?: unknown }
  const format: unknown = header?.format
  if (typeof format === 'number' && format > FORMAT)
    throw new LogError('LOG_NEWER', `${place} has format ${format}, this program reads ${FORMAT}; install a newer one`)
  if (
    event.isJson ||
    typeof hash !== 'string' ||
    !HEX32.test(hash) ||
    !isRecord(header) ||
    !isHeader(header) ||
    isLong(header)
  )
    throw new LogError(
      'LOG_FOREIGN',
      `${place} (type ${shown(event.type)}) was not written by keepup; let nothing else write to streams of this ` +
        'namespace, and start with another namespace',
    )
  return { header, hash }
}

const placeOf = ({ revision, streamId }: AllStreamRecordedEvent) => `event ${revision} of ${shown(streamId)}`

/** A foreign name, shortened to one line of a message. */
export const shown = (name: string) => name.slice(0, 100).replace(CONTROL, '·')
const CONTROL = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Tables have indexes of these; keepup's own are short. */
export const isLong = ({ stream, type, runId = '', agentId = '', toolCallId = '' }: Header) =>
  [stream, type, runId, agentId, toolCallId].some(({ length }) => length > 256)

const isRecord = (value: unknown): value is Header => typeof value === 'object' && value !== null
const HEX32 = /^[0-9a-f]{64}$/
