import type { z } from 'zod'
import type { BodyOf } from '../../../domain/agent/events/events.ts'
import { readLossEvents } from '../../../domain/agent/runtime/losses.ts'
import { isStreamDamage } from '../../../domain/log/damage.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { agentOf, runOf } from '../../../domain/log/owner.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { shownBody } from '../events/body.ts'
import type * as schemas from './schemas.ts'

interface Stores {
  readonly log: EventLog
  readonly blobs: BlobStore
}

type AcceptedLoss = z.infer<typeof schemas.AcceptedLoss>
type AcceptedInStream = AcceptedLoss['streams'][number]

/**
 * The accepted losses, the oldest first. `agentIds`: only those that concern these agents. If any loss was accepted,
 * reads the headers of all events, or of these agents.
 */
export async function acceptedLosses(stores: Stores, agentIds?: readonly string[]): Promise<AcceptedLoss[]> {
  const recorded = await readLossEvents(stores.log)
  if (recorded.length === 0) return []
  const inStreams = Map.groupBy(
    await Promise.all((await acceptances(stores.log, agentIds)).map((event) => inStream(stores, event))),
    ({ id }) => id,
  )
  const concerned = agentIds && new Set(agentIds.map(agentStream))
  return recorded.flatMap(({ event, loss }) => {
    const { id, end, kept, vanished, unreadable = [], gaps, reason = null } = loss
    const streams = (inStreams.get(id) ?? []).map(({ id: _, ...stream }) => stream)
    const named = [...vanished, ...unreadable].some(({ stream }) => concerned?.has(stream))
    if (concerned !== undefined && streams.length === 0 && !named) return []
    const { actor: by, timestamp: at } = event.header
    return [{ id, by, at, reason, end, ...(kept !== undefined && { kept }), vanished, unreadable, gaps, streams }]
  })
}

/** The events `loss_accepted`, without bodies. Skips an unreadable stream; its verification reports it. */
async function acceptances(log: EventLog, agentIds?: readonly string[]): Promise<RecordedEvent[]> {
  // Only streams of keepup's own agents contain acceptances.
  const sources = agentIds?.map((id) => log.read(agentStream(id), { bodies: false })) ?? [
    log.readAll(null, { bodies: false }),
  ]
  const found: RecordedEvent[] = []
  for (const source of sources) {
    try {
      for await (const page of source) found.push(...page.filter(({ header }) => header.type === 'loss_accepted'))
    } catch (error) {
      if (!isStreamDamage(error)) throw error
    }
  }
  return found
}

async function inStream({ log, blobs }: Stores, { header }: RecordedEvent): Promise<AcceptedInStream & { id: string }> {
  const about = { id: header.commandId.replace(/^loss:/, ''), runId: runOf(header), agentId: agentOf(header) }
  for await (const [event] of log.read(header.stream, { from: header.revision, limit: 1 })) {
    if (event === undefined) continue
    const body = (await shownBody(event, blobs)).json as BodyOf<'loss_accepted'> | null
    if (body === null) break
    const { revision, calls, unlisted = false, nanoDollars = null } = body
    return { ...about, revision, calls, unlisted, nanoDollars }
  }
  return { ...about, revision: null, calls: [], unlisted: true, nanoDollars: null }
}
