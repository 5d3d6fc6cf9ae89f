import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PART_BYTES, partsOf } from '../../projections/engine/chunks.ts'
import { Projector } from '../../projections/engine/projector/projector.ts'
import type { Batch, Store } from '../../projections/engine/store/store.ts'
import { describeWithSharedPostgres } from '../support/postgres/postgres.ts'
import { runs } from '../support/projections/fc.ts'
import { sqliteKit, type TablesKit } from '../support/projections/kit.ts'
import { MemoryLog } from '../support/projections/memory-log.ts'
import { postgresKit } from '../support/projections/postgres-kit.ts'
import { rebuilding } from '../support/projections/rebuilding.ts'
import { Actor } from '../support/projections/story.ts'

describe('parts', () => {
  it('hold everything in order, no more than the limit unless one alone does, and no less than fits', () => {
    const weights = fc.array(fc.integer({ min: 0, max: 20 }))
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 30 }), (items, limit) => {
        const sum = (part: readonly number[]) => part.reduce((a, b) => a + b, 0)
        const parts = [...partsOf(items, (item) => item, limit)]
        expect(parts.flat()).toEqual(items)
        for (const [i, part] of parts.entries()) {
          expect(part.length).toBeGreaterThan(0)
          if (part.length > 1) expect(sum(part)).toBeLessThanOrEqual(limit)
          const next = parts[i + 1]
          if (next) expect(sum(part) + next[0]!).toBeGreaterThan(limit)
        }
      }),
      runs(200),
    )
  })
})

const MIB = 1024 * 1024

/** One page of the log with bodies of so many MiB each. */
function bigPage(sizes: readonly number[], stream = 'document-d') {
  const log = new MemoryLog()
  log.pages = () => 256
  for (const [i, size] of sizes.entries()) {
    const body = { text: 'x'.repeat(size * MIB) }
    log.add({ stream, type: 'noted', body, runId: 'd', at: Date.UTC(2027, 0, 1) + i, blob: true })
  }
  return log
}

/** A store that says what each of its transactions was given. */
function watched(store: Store) {
  const batches: Batch[] = []
  const commit: Store['commit'] = (from, to, batch) => {
    batches.push(batch)
    return store.commit(from, to, batch)
  }
  const { keepsEvents } = store
  const spied: Store = {
    keepsEvents,
    commit,
    progress: () => store.progress(),
    statesOf: (streams) => store.statesOf(streams),
    erasureSeen: (stream, revision) => store.erasureSeen(stream, revision),
    close: () => store.close(),
  }
  return { batches, spied }
}

const payloads = ({ events }: Batch) => events.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0)

function bigBodies(kit: TablesKit): void {
  describe(`a page with big bodies in ${kit.name}`, () => {
    it('is as many transactions as it takes, each with its position', async () => {
      const log = bigPage([3, 3, 3, 3, 3, 3, 20, 1])
      const tables = await kit.fresh()
      const { batches, spied } = watched(await tables.open())
      const { events, cursor } = await new Projector({ log, blobs: log.blobs, store: spied }).catchUp()
      expect([events, cursor]).toEqual([8, log.cursor(log.events.at(-1)!)])
      expect(batches.map(({ streams }) => streams.map(({ revision }) => revision))).toEqual([[4], [5], [6], [7]])
      if (spied.keepsEvents) expect(batches.map(({ events }) => events.length)).toEqual([5, 1, 1, 1])
      await spied.close()
    })
  })
}

bigBodies(sqliteKit)

describeWithSharedPostgres('big bodies', (server) => {
  const kit = postgresKit(server)
  const { open } = rebuilding(server)
  bigBodies(kit)

  it('come back with a release in parts, those that were missing too', async () => {
    const log = new MemoryLog()
    let at = 0
    const actor = new Actor(log, () => ++at, 'a', 'a')
    actor.start()
    for (let i = 0; i < 4; i++) actor.write('user_input', { text: String(i).repeat(6 * MIB) }, { blob: true })
    const held = new Map(log.blobs.held)
    log.blobs.held.clear()
    const tables = await kit.fresh()
    const { batches, spied } = watched(await tables.open())
    const projector = new Projector({ log, blobs: log.blobs, store: spied })
    await projector.catchUp()
    expect(batches.map(payloads).every((size) => size < MIB)).toBe(true)
    for (const [key, bytes] of held) log.blobs.held.set(key, bytes)
    batches.length = 0
    expect(await projector.release('agent-a')).toBe(true)
    expect(batches.length).toBeGreaterThan(2)
    for (const batch of batches) expect(payloads(batch)).toBeLessThanOrEqual(PART_BYTES)
    const { event_rows, inputs } = await tables.dump()
    expect(event_rows!.map(({ payload }) => String(payload).length > 6 * MIB)).toEqual([
      ...Array(event_rows!.length - 4).fill(false),
      ...Array(4).fill(true),
    ])
    expect(inputs!.length).toBeGreaterThanOrEqual(4)
    await spied.close()
  })

  it('that differ are told by their beginning and digest', async () => {
    const { pool, projections, live } = await open(bigPage([1, 1]))
    await pool.query(`update ${await live()}.event_rows set payload = payload || ' ' where revision = 1`)
    const { differences } = await projections.rebuild()
    expect(differences).toMatchObject([{ table: 'event_rows', onlyLive: 1, onlyRebuilt: 1 }])
    const [shown] = differences![0]!.examples.live as { payload: string }[]
    expect(shown!.payload).toMatch(/^\{"text":"x{91}… \(md5 [0-9a-f]{32}\)$/)
  })
})
