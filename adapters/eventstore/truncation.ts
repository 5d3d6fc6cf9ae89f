import {
  type AllStreamRecordedEvent,
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  ErrorType,
  type StreamingRead,
} from '@eventstore/db-client'
import type { DamagedEvent } from '../../domain/log/damage.ts'
import { storedStreamName } from './codec.ts'
import { causeOf, hidden } from './errors.ts'
import { isOwnName } from './foreign-events.ts'
import type { LogParts } from './log-parts.ts'

// An operator can hide events of a stream with its metadata. The stream `$$<name>` holds the metadata.

interface Metadata {
  readonly $tb?: unknown
  readonly $maxCount?: unknown
  readonly $maxAge?: unknown
}

/** The name of a stream's metadata stream. A prefix of a name gives the prefix of the metadata stream's name. */
export const metadataOf = (name: string): string => `$$${name}`

export const isMetadata = ({ streamId }: AllStreamRecordedEvent): boolean => streamId.startsWith('$$')

const hides = ({ $tb, $maxCount, $maxAge }: Metadata): boolean =>
  (typeof $tb === 'number' && $tb > 0) || $maxCount !== undefined || $maxAge !== undefined

/** The current metadata of a stream; null if it has none. Rejects with the client's errors. */
export async function readMetadata(
  { connection, limits }: LogParts,
  name: string,
  signal: AbortSignal,
): Promise<Metadata | null> {
  const options = { direction: BACKWARDS, fromRevision: END, maxCount: 1, requiresLeader: true } as const
  const found = await connection
    .read(
      (client) => client.readStream(metadataOf(name), options) as StreamingRead<AllStreamResolvedEvent>,
      limits.callMs,
      signal,
    )
    .catch((error: unknown) => {
      if (causeOf(error) === ErrorType.STREAM_NOT_FOUND) return []
      throw error
    })
  return (found[0]?.event?.data as Metadata | undefined) ?? null
}

/** The damage that a metadata event has done to one of keepup's streams. Null: none, or it was undone since. */
export async function truncationOf(
  place: LogParts,
  event: AllStreamRecordedEvent,
  signal: AbortSignal,
): Promise<DamagedEvent | null> {
  const name = event.streamId.slice(metadataOf('').length)
  const stream = name.slice(storedStreamName(place.namespace, '').length)
  if (!isOwnName(stream) || !hides((event.data ?? {}) as Metadata)) return null
  const now = await readMetadata(place, name, signal).catch((error: unknown) => {
    // Someone has tombstoned the metadata stream since, so this event is its last known state.
    if (causeOf(error) === ErrorType.STREAM_DELETED) return event.data as Metadata
    throw error
  })
  if (now === null || !hides(now)) return null
  const { message } = hidden(name, 'its metadata hides events')
  const [position, at] = [Number(event.position.commit), event.created.toISOString()]
  return { stream, revision: null, position, id: event.id, type: event.type, at, code: 'TRUNCATED', message }
}
