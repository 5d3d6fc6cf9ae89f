import type { Header } from '../../../log/envelope.ts'
import { ownerOf } from '../../../log/owner.ts'
import { bodyOf } from '../bodies.ts'
import type { StreamPorts } from '../ports.ts'
import type { Erasable } from './types.ts'

/**
 * Deletes every blob of a stream's owner that is named neither by an event of the stream nor by an event of a stream
 * that it created. A lost part of the log leaves unnamed blobs behind. Does nothing for a child agent's stream: the
 * blobs belong to the whole run. Forks keep their blobs under their own run id. Blobs with an open intent stay. Rejects
 * as the stores do, also when an event that may name an attachment is unreadable; then nothing is deleted.
 */
export async function removeUnnamed(
  { log, blobs, intents }: Pick<StreamPorts, 'log' | 'blobs' | 'intents'>,
  { attaching, attachment, bears }: Erasable,
  header: Header,
): Promise<void> {
  const { stream, runId } = header
  const owner = ownerOf(header)
  if (runId !== undefined && owner === runId && header.agentId !== runId) return
  // List the blobs first, then read the intents, then the log: a listed blob that an append uses has an open intent, or
  // its event is already in the log.
  const unnamed = new Set(await blobs.list(owner))
  if (unnamed.size === 0) return
  for (const { hash, ...intent } of (await intents?.left()) ?? []) if (intent.runId === owner) unnamed.delete(hash)
  const streams = [stream]
  const naming: string[] = []
  for (const one of streams) {
    let isAttaching = false
    for await (const page of log.read(one, { bodies: false })) {
      for (const { header, erased } of page) {
        const born = bears?.(header) ?? null
        if (born !== null) streams.push(born)
        if (erased) continue
        unnamed.delete(header.body.hash)
        isAttaching ||= attaching?.has(header.type) === true
      }
    }
    if (isAttaching) naming.push(one)
  }
  for (const one of unnamed.size > 0 ? naming : []) {
    for await (const page of log.read(one)) {
      for (const event of page) {
        if (event.erased || !attaching?.has(event.header.type)) continue
        const named = attachment?.(event.header, await bodyOf({ log, blobs }, event))
        if (named !== undefined) unnamed.delete(named.hash)
      }
    }
  }
  for (const hash of unnamed) await blobs.delete(owner, hash)
}
