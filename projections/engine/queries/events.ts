import type { Kysely } from 'kysely'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentStream, externalStream } from '../../../domain/log/ids.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { decodeAgentEvent } from '../../agent/rows/decode.ts'
import type { ProjectedEvent } from '../../agent/rows/event.ts'
import { ProjectionError } from '../errors.ts'
import { bodyBytes } from '../projector/body.ts'
import type { Database } from '../schema/database.ts'

export interface EventSources {
  readonly log: EventLog
  readonly blobs: BlobStore
}

/** One decoded event of an agent. Rejects with `NOT_FOUND` if it does not exist or cannot be read. */
export async function readEvent(sources: EventSources, agentId: string, revision: number): Promise<ProjectedEvent> {
  for await (const page of sources.log.read(agentStream(agentId), { from: revision, limit: 1 })) {
    const event = page[0]
    if (!event) continue
    const bytes = await bodyBytes(event, sources)
    const taken = bytes !== null && 'poison' in bytes ? bytes : decodeAgentEvent(event, bytes)
    if ('poison' in taken)
      throw new ProjectionError('NOT_FOUND', `event ${agentId}@${revision}: ${taken.poison.message}`)
    return taken
  }
  throw new ProjectionError('NOT_FOUND', `agent ${agentId} has no event at revision ${revision}`)
}

/** The place to start reading an agent's events after a log position: at most one turn before the first of them. */
export interface Start {
  readonly agentId: string
  readonly stream: string
  readonly revision: number
}

/**
 * The agents of a run, each with a revision at or before its first event after `position`. The positions of checkpoints
 * serve as an index, so every page costs the same.
 */
export async function eventStarts(db: Kysely<Database>, runId: string, position: number): Promise<Start[]> {
  const rows = await db
    .selectFrom('agents as a')
    .where('a.run_id', '=', runId)
    .select((eb) => [
      'a.id',
      'a.ungoverned',
      eb
        .selectFrom('checkpoint_rows as c')
        .whereRef('c.agent_id', '=', 'a.id')
        .where('c.position', '<=', position)
        .select('c.revision')
        .orderBy('c.position', 'desc')
        .limit(1)
        .as('revision'),
    ])
    .orderBy('a.id')
    .execute()
  return rows.map(({ id, ungoverned, revision }) => ({
    agentId: id,
    stream: ungoverned === 1 ? externalStream(id) : agentStream(id),
    revision: revision ?? 0,
  }))
}

/** Events of some agents after a log position, in log order: at most `limit` that satisfy `wanted`. */
export async function eventsAfter(
  log: EventLog,
  starts: readonly Start[],
  position: number,
  limit: number,
  wanted: (event: RecordedEvent) => boolean = () => true,
): Promise<RecordedEvent[]> {
  const heads = await Promise.all(starts.map((start) => Head.open(log, start, position)))
  const events: RecordedEvent[] = []
  try {
    while (events.length < limit) {
      let first: Head | null = null
      for (const head of heads) {
        if (head.event && (!first?.event || head.event.position < first.event.position)) first = head
      }
      if (!first?.event) break
      if (wanted(first.event)) events.push(first.event)
      await first.advance()
    }
  } finally {
    await Promise.all(heads.map((head) => head.close()))
  }
  return events
}

/** The next event of one stream during a merge of several. */
class Head {
  event: RecordedEvent | null = null
  readonly #pages: AsyncIterator<readonly RecordedEvent[]>
  #page: readonly RecordedEvent[] = []
  #next = 0
  private constructor(pages: AsyncIterator<readonly RecordedEvent[]>) {
    this.#pages = pages
  }

  static async open(log: EventLog, { stream, revision }: Start, position: number): Promise<Head> {
    const head = new Head(log.read(stream, { from: revision })[Symbol.asyncIterator]())
    do await head.advance()
    while (head.event && head.event.position <= position)
    return head
  }

  async advance(): Promise<void> {
    while (this.#next >= this.#page.length) {
      const { done, value } = await this.#pages.next()
      if (done) {
        this.event = null
        return
      }
      this.#page = value
      this.#next = 0
    }
    this.event = this.#page[this.#next++]!
  }

  async close(): Promise<void> {
    await this.#pages.return?.()
  }
}
