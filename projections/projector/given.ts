import { callArguments } from '../../domain/agent/events/content.ts'
import type { ArgumentsRef } from '../../domain/agent/events/events.ts'
import { isStreamDamage } from '../../domain/log/damage.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import type { Seen } from '../changes/event.ts'
import { bodyBytes } from './body.ts'
import { decode } from './decode.ts'

/** Where the arguments of the call stand that an event came from, for those whose rows show them; null: for any other. */
function givenTo(e: Seen): ArgumentsRef | null {
  if (e.type === 'context_set') return e.body && 'argumentsRef' in e.body ? e.body.argumentsRef : null
  return e.type === 'artifact_registered' ? (e.body?.artifact.argumentsRef ?? null) : null
}

/** Nearly no event does, and a wait for each would cost more than its reading. */
export const pointsToArguments = (e: Seen): boolean => !e.erased && givenTo(e) !== null

/**
 * An event with the arguments that it points to at hand, read from the same stream; null where they are gone. A stream that
 * cannot be read by its name is read as the whole log gives it, so that a rebuild finds what was found when it could.
 */
export async function withGiven(
  { log, blobs }: { readonly log: EventLog; readonly blobs: BlobStore },
  { header }: RecordedEvent,
  event: Seen,
): Promise<Seen> {
  const given = givenTo(event)
  if (given === null) return event
  const at = { from: given.revision, limit: 1 }
  const answer = await firstOf(log.read(header.stream, at)).catch((error: unknown) => {
    if (!isStreamDamage(error)) throw error
    return firstOf(log.read(header.stream, { ...at, onDamage: () => undefined }))
  })
  return { ...event, arguments: answer && (await argumentsIn(blobs, answer, given.block)) }
}

async function firstOf(pages: AsyncIterable<readonly RecordedEvent[]>): Promise<RecordedEvent | null> {
  for await (const page of pages) if (page[0]) return page[0]
  return null
}

async function argumentsIn(blobs: BlobStore, answer: RecordedEvent, block: number): Promise<JsonObject | null> {
  const bytes = await bodyBytes(answer, blobs)
  if (bytes === null || 'poison' in bytes) return null
  const taken = decode(answer, bytes)
  const asked = 'poison' in taken || taken.type !== 'model_call_end' ? undefined : taken.body?.content[block]
  return asked === undefined ? null : callArguments(asked)
}
