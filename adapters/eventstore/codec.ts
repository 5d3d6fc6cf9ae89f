import type { AllStreamRecordedEvent } from '@eventstore/db-client'
import type { DamagedEvent } from '../../domain/log/damage.ts'
import { FORMAT, type Header, type RecordedEvent, type SealedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import { isHeader } from '../../domain/log/header.ts'
import { eventId, SALT_BYTES, sentHeader } from '../../domain/log/seal.ts'
import type { BinaryEvent } from './append-message.ts'
import { tombstoned } from './errors.ts'

// Storage format: the event's data are salt and body, in binary. Its metadata are the hash and the canonical header.

const EMPTY = new Uint8Array()
const utf8 = new TextEncoder()

/** A sealed event in the client's form. */
export function encode(event: SealedEvent): BinaryEvent {
  return {
    id: event.id,
    type: event.header.type,
    contentType: 'application/octet-stream',
    // The client would write anything but a plain Uint8Array as JSON of its members.
    data: event.body ? new Uint8Array(event.body.buffer, event.body.byteOffset, event.body.byteLength) : EMPTY,
    metadata: utf8.encode(`{"hash":"${event.hash}","header":${sentHeader(event)}}`),
  }
}

/** The server's name of a stream. */
export const storedStreamName = (namespace: string, stream: string) => `${namespace}.${stream}`

/**
 * The sealed event of a stored event of this namespace. Throws `LOG_FOREIGN` if keepup did not write it there,
 * `LOG_NEWER` if a newer version wrote it, and `LOG_CORRUPT` if it is altered or not at its sealed place.
 */
export function decode(namespace: string, event: AllStreamRecordedEvent): RecordedEvent {
  const { header, hash } = metadataOf(event)
  const { stream, revision, body } = header
  const place = placeOf(event)
  if (event.streamId !== storedStreamName(namespace, stream))
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
    data.length !== (body.place === 'blob' ? 0 : SALT_BYTES + body.size)
  )
    throw new LogError('LOG_CORRUPT', `${place} is not what was sealed; restore a backup of the server`)
  return { header, body: body.place === 'blob' ? null : data, hash, id: event.id, position: positionOf(event) }
}

/** The damage record of an event of keepup's streams that {@link decode} refused. */
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
    // The server gives a tombstone the greatest 64-bit number as its revision.
    revision: isTombstone || event.revision > MOST ? null : Number(event.revision),
    position: Number(event.position.commit),
    id: event.id,
    type: printableName(event.type),
    at: event.created.toISOString(),
    code,
    message: error.message,
  }
}

const TOMBSTONE = '$streamDeleted'
const MOST = BigInt(Number.MAX_SAFE_INTEGER)

/** The hash in an event's metadata, unchecked; null if there is none. */
export function hashOf(event: AllStreamRecordedEvent): string | null {
  const { hash } = (event.metadata ?? {}) as { hash?: unknown }
  return typeof hash === 'string' ? hash : null
}

/**
 * The event's position in the whole log. In this log format, positions are byte offsets with equal halves, and exact as
 * numbers below 2^53. Throws `LOG_FOREIGN` for a position of another form.
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
      `${place} (type ${printableName(event.type)}) was not written by keepup; let nothing else write to streams of this ` +
        'namespace, and start with another namespace',
    )
  return { header, hash }
}

const placeOf = ({ revision, streamId }: AllStreamRecordedEvent) => `event ${revision} of ${printableName(streamId)}`

/** A foreign name, shortened and without control characters, for messages. */
export const printableName = (name: string) => name.slice(0, 100).replace(CONTROL, '·')
const CONTROL = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Whether a header has a name that is too long for the indexes of the tables. keepup's own names are short. */
export const isLong = ({ stream, type, runId = '', agentId = '', toolCallId = '' }: Header) =>
  [stream, type, runId, agentId, toolCallId].some(({ length }) => length > 256)

const isRecord = (value: unknown): value is Header => typeof value === 'object' && value !== null
const HEX32 = /^[0-9a-f]{64}$/
