import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { identifier, type persistentPb, streamsPb, uuid } from './protocol.ts'
import { DELETED, type Stored } from './store.ts'

const TICKS_PER_MS = 10_000n

type Recorded = InstanceType<typeof streamsPb.ReadResp.ReadEvent.RecordedEvent>
type PersistentRecorded = InstanceType<typeof persistentPb.ReadResp.ReadEvent.RecordedEvent>

/** Writes an event to a message of either service. */
export function fillRecorded<T extends Recorded | PersistentRecorded>(recorded: T, event: Stored): T {
  recorded.setId(uuid(event.id))
  recorded.setStreamIdentifier(identifier(event.stream))
  recorded.setStreamRevision(event.type === DELETED ? '9223372036854775807' : String(event.revision))
  recorded.setCommitPosition(String(event.position))
  recorded.setPreparePosition(String(event.position))
  recorded.setData(event.data)
  recorded.setCustomMetadata(event.metadata)
  const map = recorded.getMetadataMap()
  map.set('type', event.type)
  map.set('content-type', event.contentType)
  map.set('created', String(BigInt(event.created) * TICKS_PER_MS))
  return recorded
}

export function eventMessage(event: Stored): ReadResp {
  const recorded = fillRecorded(new streamsPb.ReadResp.ReadEvent.RecordedEvent(), event)
  const read = new streamsPb.ReadResp.ReadEvent()
  read.setEvent(recorded)
  read.setCommitPosition(String(event.position))
  const response = new streamsPb.ReadResp()
  response.setEvent(read)
  return response
}

/** An event over the client's size limit. */
export function hugeEvent(): ReadResp {
  return eventMessage({
    stream: 'huge',
    revision: 0,
    position: 0,
    created: 0,
    id: '00000000-0000-4000-8000-000000000001',
    type: 'huge',
    contentType: 'application/octet-stream',
    data: new Uint8Array(18 * 1024 * 1024),
    metadata: new Uint8Array(),
  })
}

export function notFound(stream: string): ReadResp {
  const response = new streamsPb.ReadResp()
  const message = new streamsPb.ReadResp.StreamNotFound()
  message.setStreamIdentifier(identifier(stream))
  response.setStreamNotFound(message)
  return response
}

export function checkpoint(position: number): ReadResp {
  const response = new streamsPb.ReadResp()
  const message = new streamsPb.ReadResp.Checkpoint()
  message.setCommitPosition(String(position))
  message.setPreparePosition('0')
  response.setCheckpoint(message)
  return response
}

export function told(what: 'confirmation' | 'caughtUp'): ReadResp {
  const response = new streamsPb.ReadResp()
  if (what === 'caughtUp') response.setCaughtUp(new streamsPb.ReadResp.CaughtUp())
  else {
    const message = new streamsPb.ReadResp.SubscriptionConfirmation()
    message.setSubscriptionId(crypto.randomUUID())
    response.setConfirmation(message)
  }
  return response
}
