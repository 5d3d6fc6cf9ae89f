import type { Kysely, Transaction } from 'kysely'
import type { Json } from '../../../domain/log/json.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import { createPositions, forgetPosition } from './position-in.ts'
import { type RowHandler, RowSink } from './row-sink.ts'

/** An event for a test: its type and payload. The other members have values that fit, unless they are given. */
export type GivenEvent = Partial<Omit<EventView, 'type' | 'payload'>> & {
  readonly type: EventView['type']
  readonly payload: { readonly [member: string]: Json } | null
}

/** The projection under test. */
export interface ProjectionTest<DB> {
  /** A database with the tables of the projection. */
  readonly db: Kysely<DB>
  /** The handler that the program gives to `consume`. */
  readonly handler: RowHandler<DB>
  /** Removes the rows of the projection. {@link TestedProjection.rebuild} needs it. */
  clear?(tx: Transaction<DB>): Promise<unknown>
}

/** Hands events over to the projection. Each method resolves when the rows are written, and rejects as the handler does. */
export interface TestedProjection {
  /** Hands over further events as one batch, as `consume` does. */
  given(...events: readonly GivenEvent[]): Promise<void>
  /** Hands over the last batch as if its position had been lost before the commit: nothing of the first time is left. */
  crash(...events: readonly GivenEvent[]): Promise<void>
  /** Removes the rows and the position, and hands over all events again, `batch` at a time (1). */
  rebuild(batch?: number): Promise<void>
}

const NAME = 'test'
const RUN = 'run1'
const HASH = '0'.repeat(64)

/**
 * Tests the handler of a projection without keepup: given events, then its rows. The rows after `rebuild` must be the
 * same, for every batch size.
 *
 *   const totals = await testProjection({ db, handler, clear: (tx) => tx.deleteFrom('totals').execute() })
 *   await totals.given({ type: 'completion', payload: { summary: 'done' } })
 *   expect(await db.selectFrom('totals').selectAll().execute()).toEqual([{ run: 'run1', ended: 1 }])
 */
export async function testProjection<DB>({ db, handler, clear }: ProjectionTest<DB>): Promise<TestedProjection> {
  await createPositions(db)
  const views: EventView[] = []
  const revisions = new Map<string, number>()
  let sink = await RowSink.open(db, NAME, handler)
  const next = (event: GivenEvent): EventView => {
    const runId = event.runId ?? RUN
    const stream = event.stream ?? `agent-${event.agentId ?? runId}`
    const revision = event.revision ?? (revisions.get(stream) ?? -1) + 1
    revisions.set(stream, revision)
    const view = { ...viewOf(views.length + 1), runId, agentId: runId, stream, revision, ...event } as EventView
    views.push(view)
    return view
  }
  const take = (events: readonly EventView[]) => sink.take(events, events.at(-1)!.cursor)
  return {
    async given(...events) {
      if (events.length > 0) await take(events.map(next))
    },
    async crash(...events) {
      const made = events.map(next)
      const lost = new Error('the process was killed before the commit')
      const broken = await RowSink.open<DB>(db, NAME, async (all, tx) => {
        await handler(all, tx)
        throw lost
      })
      await broken.take(made, made.at(-1)!.cursor).catch((error: unknown) => {
        if (error !== lost) throw error
      })
      await take(made)
    },
    async rebuild(batch = 1) {
      if (clear === undefined) throw new TypeError('testProjection: to rebuild, give "clear", which removes the rows')
      await db.transaction().execute(async (tx) => {
        await clear(tx)
        await forgetPosition(tx, NAME)
      })
      sink = await RowSink.open(db, NAME, handler)
      for (let at = 0; at < views.length; at += batch) await take(views.slice(at, at + batch))
    },
  }
}

/** The members of the nth event that a test did not give. */
const viewOf = (n: number) => ({
  id: `00000000-0000-8000-8000-${String(n).padStart(12, '0')}`,
  cursor: `test~${n}~${HASH}`,
  version: 1,
  turn: 0,
  timestamp: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
  actor: { kind: 'system', id: 'test' },
  commandId: `command${n}`,
  correlationId: `command${n}`,
  hash: HASH,
})
