import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { dueBefore } from '../../../projections/engine/queries/due.ts'
import { runs, tape } from '../../support/projections/fc.ts'
import { folded, projected, type TablesKit } from '../../support/projections/kit.ts'
import { MemoryLog } from '../../support/projections/memory-log.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'

/** Two agents, of whom the first one's stream will be damaged. */
function pair() {
  const log = new MemoryLog()
  let at = Date.UTC(2026, 0, 1)
  const now = () => ++at
  const [bad, good] = [new Actor(log, now, 'bad', 'bad'), new Actor(log, now, 'good', 'good')]
  bad.start()
  good.start()
  return { log, bad, good, child: new Actor(log, now, 'child', 'good') }
}

const removeStream = (log: MemoryLog, stream: string): void => {
  const left = log.events.filter(({ header }) => header.stream !== stream)
  log.events.splice(0, log.events.length, ...left)
}

/** Given damage in one stream of a log, the tables park that stream and go on with all others. */
export function damageContract(kit: TablesKit): void {
  const open = async (log: MemoryLog) => {
    const tables = await kit.fresh()
    return { dump: tables.dump, tables, ...(await projected(log, tables)) }
  }

  describe('a gap in a stream', () => {
    it('parks that stream at the event behind it; all other streams go on', async () => {
      const { log, bad, good } = pair()
      bad.user('user_input', { text: 'lost' })
      const late = bad.user('user_input', { text: 'late' })
      good.user('user_input', { text: 'read' })
      log.events.splice(2, 1)
      const { dump, projector } = await open(log)
      const found = await dump()
      const row = { stream: 'agent-bad', run_id: 'bad', revision: 2, position: late.position }
      expect(found.parked).toMatchObject([{ ...row, event_id: late.id, code: 'GAP' }])
      expect(found.parked![0]!.message).toMatch(/^stream agent-bad goes on with revision 2 where 1 must follow: .*; /)
      expect(found.agents).toMatchObject([
        { id: 'bad', incomplete_from: 2, revision: 0 },
        { id: 'good', incomplete_from: null, revision: 1 },
      ])
      expect(projector.status()).toMatchObject({ state: 'idle', progress: { events: log.events.length } })
      expect(await projector.release('agent-bad')).toBe(false)
      expect(await dump()).toEqual(found)
    })

    it.each([
      ['the beginning', (log: MemoryLog, first: number) => log.events.splice(first, 1)],
      ['every event', (log: MemoryLog) => removeStream(log, 'agent-bad')],
    ])('of which the log has lost %s later keeps its rows on release, and stays parked', async (_, lose) => {
      const { log, bad } = pair()
      bad.user('user_input', { text: 'lost' })
      bad.user('user_input', { text: 'late' })
      const at = log.events.findIndex(({ header }) => header.stream === 'agent-bad' && header.revision === 1)
      const [gap] = log.events.splice(at, 1)
      const { dump, projector } = await open(log)
      const found = await dump()
      expect(found.parked).toHaveLength(1)
      log.events.splice(at, 0, gap!)
      lose(
        log,
        log.events.findIndex(({ header }) => header.stream === 'agent-bad'),
      )
      expect(await projector.release('agent-bad')).toBe(false)
      // PostgreSQL keeps the events beside the rows, also the one that came back.
      expect({ ...(await dump()), event_rows: null }).toEqual({ ...found, event_rows: null })
    })

    it('is read again on release, once the log holds what was missing', async () => {
      const { log, bad } = pair()
      bad.user('user_input', { text: 'lost' })
      bad.user('user_input', { text: 'late' })
      const [lost] = log.events.splice(2, 1)
      const { dump, projector } = await open(log)
      log.events.splice(2, 0, lost!)
      bad.user('user_input', { text: 'later' })
      expect(await projector.release('agent-bad')).toBe(true)
      // The events that the tables have not reached are left to the next batch, which would count them again.
      expect((await dump()).inputs).toHaveLength(2)
      await projector.catchUp()
      // The lost event was never counted as read.
      const { position: _, ...rebuilt } = await folded(log, kit)
      expect(await dump()).toMatchObject(rebuilt)
      expect((await dump()).inputs).toHaveLength(3)
    })

    it('parks a stream of a kind without row rules', async () => {
      const { log, good } = pair()
      for (const at of [1, 2]) log.add({ stream: 'document-d', type: 'noted', body: {}, runId: 'good', at })
      log.events.splice(2, 1)
      good.user('user_input', { text: 'read' })
      const { dump, projector, tables } = await open(log)
      const found = await dump()
      expect(found.parked).toMatchObject([{ stream: 'document-d', revision: 1, code: 'GAP' }])
      expect((await dueBefore(tables.db, null)).map(({ reason }) => reason)).not.toContain('parked')
      expect(await projector.release('document-d')).toBe(false)
      expect(await dump()).toEqual(found)
    })
  })

  describe('a damaged event', () => {
    it.each(['FOREIGN', 'ALTERED', 'FORMAT_NEWER'] as const)('%s: parks its stream and no other', async (code) => {
      const { log, good } = pair()
      const planted = log.damage('agent-bad', { code, revision: 1 })
      good.user('user_input', { text: 'read' })
      const { dump, projector } = await open(log)
      const found = await dump()
      const { position, id: event_id, type, at, message } = planted
      expect(found.parked).toEqual([
        {
          stream: 'agent-bad',
          run_id: 'bad',
          revision: 1,
          version: 0,
          code,
          position,
          event_id,
          type,
          at,
          message,
        },
      ])
      expect(found.agents).toMatchObject([
        { id: 'bad', incomplete_from: 1 },
        { id: 'good', incomplete_from: null },
      ])
      expect(found.inputs).toMatchObject([{ agent_id: 'good' }])
      expect(await projector.release('agent-bad')).toBe(false)
      expect(await dump()).toEqual(found)
    })

    it('that nothing follows is taken at once, once, and moves no position', async () => {
      const { log } = pair()
      const { dump, projector, tables } = await open(log)
      const { position } = await dump()
      log.damage('agent-bad', { code: 'TOMBSTONED' })
      await projector.catchUp()
      expect((await dump()).parked).toMatchObject([{ code: 'TOMBSTONED', revision: 1 }])
      expect((await dump()).position).toEqual(position)
      const before = await dump()
      await projected(log, tables)
      expect(await dump()).toEqual(before)
    })

    it('is heard by a projector that follows the log', async () => {
      const { log, good } = pair()
      const { dump, projector } = await open(log)
      const end = new AbortController()
      const running = projector.run(end.signal)
      log.damage('agent-bad')
      good.user('user_input', { text: 'read' })
      await projector.caughtUpTo(await log.headCursor())
      end.abort()
      await running
      expect((await dump()).parked).toMatchObject([{ stream: 'agent-bad' }])
      expect((await dump()).inputs).toHaveLength(1)
    })

    it('of a child is listed with its run; one without a first event with the id of its stream', async () => {
      const { log, child } = pair()
      child.start({ agentId: 'good', toolCallId: 'good.t1.c0' })
      const { dump, projector } = await open(log)
      log.damage('agent-child')
      log.damage('agent-unborn', { revision: 0 })
      await projector.catchUp()
      expect((await dump()).parked).toMatchObject([
        { stream: 'agent-child', run_id: 'good' },
        { stream: 'agent-unborn', run_id: 'unborn', revision: 0 },
      ])
    })
  })

  it('marks each run that depends on the stream as incomplete: its own, and forks of what comes after', async () => {
    const { log, bad, child } = pair()
    const kept = bad.user('user_input', { text: 'whole' })
    const gone = bad.user('user_input', { text: 'lost' })
    const late = bad.user('user_input', { text: 'late' })
    for (const [id, from] of [
      ['before', kept],
      ['after', late],
    ] as const) {
      const fork = new Actor(log, () => Date.parse(late.header.timestamp), id, id)
      fork.forkFrom(bad, from.header.revision, from.hash)
    }
    child.start({ agentId: 'good', toolCallId: 'good.t1.c0' })
    log.events.splice(log.events.indexOf(gone), 1)
    log.damage('agent-child', { revision: 1 })
    const { tables } = await open(log)
    const { runs } = await selectRuns(tables.db)
    const incomplete = runs.map(({ id, incomplete }) => [id, incomplete]).sort()
    expect(incomplete).toEqual([
      ['after', 1],
      ['bad', 1],
      ['before', 0],
      ['good', 1],
    ])
  })

  it('any order of batches, redeliveries, restarts and releases gives the tables of a rebuild (law)', async () => {
    const plan = fc.record({
      damages: fc.array(fc.tuple(fc.nat(500), fc.nat(500), fc.boolean()), { maxLength: 4 }),
      gap: fc.option(fc.nat(500)),
      sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      overlaps: fc.array(fc.nat(5), { minLength: 1 }),
      stops: fc.array(fc.tuple(fc.nat(400), fc.nat(5)), { maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(tape, plan, async (numbers, { damages, gap, sizes, overlaps, stops }) => {
        const { log } = tell(numbers)
        fc.pre(log.events.length > 3)
        const at = (n: number) => log.events[n % log.events.length]!
        const planted = new Set<number>()
        for (const [of, behind, ends] of damages) {
          const before = at(behind)
          if (planted.has(before.position)) continue
          planted.add(before.position)
          log.damage(at(of).header.stream, { behind: before, revision: ends ? null : at(of).header.revision })
        }
        if (gap !== null) log.events.splice(gap % log.events.length, 1)
        const whole = await folded(log, kit)
        let [i, j] = [0, 0]
        log.pages = () => sizes[i++ % sizes.length]!
        log.overlap = () => overlaps[j++ % overlaps.length]!
        const tables = await kit.fresh()
        for (const [stop, which] of [...stops.sort(([a], [b]) => a - b), [Number.MAX_SAFE_INTEGER, 0] as const]) {
          const store = await tables.open()
          onTestFinished(() => store.close())
          log.visible = stop
          const projector = new Projector({ log, blobs: log.blobs, store })
          await projector.catchUp()
          const parked = (await tables.dump()).parked!.map(({ stream }) => String(stream))
          for (const stream of which % 2 === 0 ? parked : parked.reverse().slice(0, which))
            expect(await projector.release(stream)).toBe(false)
          await store.close()
        }
        expect(await tables.dump()).toEqual(whole)
      }),
      runs(kit.cases(20)),
    )
  })
}
