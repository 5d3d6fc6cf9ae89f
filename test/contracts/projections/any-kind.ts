import { describe, expect, it, onTestFinished } from 'vitest'
import type { StreamKind } from '../../../projections/engine/changes/stream-kind.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { folded, type TablesKit } from '../../support/projections/kit.ts'
import { MemoryLog } from '../../support/projections/memory-log.ts'

const STREAM = 'counter-c1'
const counted = (log: MemoryLog, by: number, more: object = {}) =>
  log.add({ stream: STREAM, type: 'counted', body: { by }, runId: 'r1', at: log.events.length * 1000, ...more })

/** Tables of a log, followed by a projector. */
async function open(kit: TablesKit, log: MemoryLog, kinds?: ReadonlyMap<string, StreamKind>) {
  const tables = await kit.fresh()
  const store = await tables.open()
  onTestFinished(() => store.close())
  const projector = new Projector({ log, blobs: log.blobs, store, ...(kinds && { kinds }) })
  await projector.catchUp()
  return { tables, projector, keepsEvents: store.keepsEvents }
}

export function anyKindContract(kit: TablesKit): void {
  describe('a stream of a kind without row rules', () => {
    it('has a head, a wake time and, where events are kept, its events', async () => {
      const log = new MemoryLog()
      counted(log, 1, { wakeAt: 5 })
      const last = counted(log, 2, { wakeAt: 9 })
      const { tables, keepsEvents } = await open(kit, log)
      const dump = await tables.dump()
      expect(dump.streams).toEqual([{ stream: STREAM, run_id: 'r1', revision: 1, hash: last.hash }])
      expect(dump.due).toEqual([{ stream: STREAM, run_id: 'r1', wake_at: 9, at_once: 1, reason: 'owed' }])
      expect(dump.agents).toEqual([])
      if (keepsEvents)
        expect(dump.event_rows).toMatchObject([
          { stream: STREAM, agent_id: 'c1', payload: '{"by":1}' },
          { stream: STREAM, agent_id: 'c1', payload: '{"by":2}' },
        ])
    })

    it('loses a body that an erased event names', async () => {
      const log = new MemoryLog()
      const secret = counted(log, 42)
      const { tables, projector, keepsEvents } = await open(kit, log)
      const bodies = [{ revision: 0, bodyHash: secret.header.body.hash }]
      const body = { bodies, code: 'other', reason: 'asked to' }
      const actor = { kind: 'user', id: 'ann' } as const
      log.add({ stream: STREAM, type: 'erased', body, runId: 'r1', at: 5000, actor, erases: [0] })
      await projector.catchUp()
      const dump = await tables.dump()
      expect(dump.erasures).toMatchObject([{ stream: STREAM, revision: 0, reason: 'asked to', by: 'user:ann' }])
      if (keepsEvents) expect(dump.event_rows![0]).toMatchObject({ revision: 0, payload: null })
      expect(dump).toEqual(await folded(log, kit))
    })

    it('is parked at a gap, and comes back with a release', async () => {
      const log = new MemoryLog()
      for (const by of [1, 2, 3]) counted(log, by)
      const whole = await folded(log, kit)
      const [lost] = log.events.splice(1, 1)
      const { tables, projector } = await open(kit, log)
      expect((await tables.dump()).parked).toMatchObject([{ stream: STREAM, revision: 2, code: 'GAP' }])
      log.events.splice(1, 0, lost!)
      expect(await projector.release(STREAM)).toBe(true)
      const { event_rows: _, position: __, ...rows } = await tables.dump()
      const { event_rows: ___, position: ____, ...expected } = whole
      expect(rows).toEqual(expected)
    })

    it('is parked at a body that differs from the sealed one', async () => {
      const log = new MemoryLog()
      counted(log, 1)
      log.events[0] = { ...log.events[0]!, body: Buffer.from('{"by":7}') }
      const { tables } = await open(kit, log)
      expect((await tables.dump()).parked).toMatchObject([{ stream: STREAM, revision: 0, code: 'BODY_MISMATCH' }])
    })

    it('waits for a newer program where its first event asks for one', async () => {
      const log = new MemoryLog()
      counted(log, 1, { minReader: 99 })
      const { projector } = await open(kit, log)
      expect(projector.status()).toMatchObject({ state: 'waiting', progress: { events: 0 } })
    })
  })

  it('a registered kind makes the rows of its own rules, and no others', async () => {
    const log = new MemoryLog()
    counted(log, 3)
    log.add({ stream: 'other-o1', type: 'counted', body: { by: 4 }, runId: 'r1', at: 9000 })
    const { tables } = await open(kit, log, new Map([['counter', COUNTER]]))
    expect((await tables.dump()).erasures).toMatchObject([{ stream: STREAM, revision: 3, reason: 'counted' }])
  })

  it('an event that the rules of its kind refuse parks its stream', async () => {
    const log = new MemoryLog()
    counted(log, -1)
    const { tables } = await open(kit, log, new Map([['counter', COUNTER]]))
    expect((await tables.dump()).parked).toMatchObject([{ stream: STREAM, code: 'SHAPE', message: 'counts down' }])
  })
}

/** Row rules of a counter, whose rows stand in a table that any kind has. */
const COUNTER: StreamKind<number> = {
  ...{ kind: 'counter', tables: {}, versions: { counted: 1 } },
  minReader: () => 1,
  decode(_, body) {
    const { by } = JSON.parse(String(Buffer.from(body!))) as { by: number }
    return by < 0 ? { poison: { code: 'SHAPE', message: 'counts down' } } : by
  },
  changes: (by) => [
    {
      kind: 'put',
      table: 'erasures',
      key: { stream: STREAM, revision: by },
      columns: { reason: 'counted' },
      initial: {},
    },
  ],
  referenceOf: () => null,
  withReferred: (by) => by,
  parked: () => [],
  upcast: () => null,
  residues: () => ({ of: async () => null }),
}
