import type { Header } from '../../../log/envelope.ts'
import { ownerOf } from '../../../log/owner.ts'
import { bodyOf } from '../bodies.ts'
import type { StreamPorts } from '../ports.ts'
import type { Erasable } from './types.ts'

/**
 * Removes every blob of a stream's owner that no event names, of the stream or of those that it brought into being: a part of
 * the log that was lost leaves them behind. A stream below the first one of its run owns no blobs alone; forks keep what they
 * name under their own run id. Blobs that are on their way to the log stay. Rejects as the stores do, also where an event cannot
 * be read that may name an attachment: then nothing is removed.
 */
export async function removeUnnamed(
  { log, blobs, intents }: Pick<StreamPorts, 'log' | 'blobs' | 'intents'>,
  { attaching, attachment, bears }: Erasable,
  header: Header,
): Promise<void> {
  const { stream, runId } = header
  const owner = ownerOf(header)
  if (runId !== undefined && owner === runId && header.agentId !== runId) return
  // In this order: a blob that was listed is still noted as on its way, or the log names it, or it belongs to no event.
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
