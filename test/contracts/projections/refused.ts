import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { rowsRefused, type Store } from '../../../projections/engine/store/store.ts'
import { runs, tape } from '../../support/projections/fc.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import type { MemoryLog } from '../../support/projections/memory-log.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'

/** Text that cannot be made shorter, longer than any index of a database takes. */
const LONG = Array.from({ length: 8000 }, (_, i) => ((i * 7919 + ((i * i) % 8191) * 31) % 36).toString(36)).join('')

/** A store that refuses such names itself, as long as it is told to. */
export function refusing(store: Store, refuses: () => boolean = () => true): Store {
  return {
    keepsEvents: store.keepsEvents,
    progress: () => store.progress(),
    statesOf: (streams) => store.statesOf(streams),
    erasureSeen: (stream, revision) => store.erasureSeen(stream, revision),
    close: () => store.close(),
    commit: async (from, to, batch) => {
      const rows = [...(batch.changes.byTable.get('context_variables')?.values() ?? [])].flatMap((of) => [
        ...of.rows.values(),
      ])
      if (refuses() && rows.some(({ key }) => key.name === LONG)) throw rowsRefused('The test', new Error('too long'))
      await store.commit(from, to, batch)
    },
  }
}

const call = { toolCallId: 'bad.t1.c0' }

/** `refuse`: makes a store refuse names that are too long, where its database does not. */
export function refusedContract(kit: TablesKit, refuse: (store: Store) => Store): void {
  const open = async (log: MemoryLog, made = refuse) => {
    const tables = await kit.fresh()
    const store = made(await tables.open())
    onTestFinished(() => store.close())
    const projector = new Projector({ log, blobs: log.blobs, store })
    await projector.catchUp()
    return { dump: tables.dump, projector }
  }
  const bad = (log: MemoryLog, id = 'bad') => {
    let at = Date.parse(log.events.at(-1)?.header.timestamp ?? '2026-01-01T00:00:00.000Z')
    return new Actor(log, () => ++at, id, id)
  }

  describe('rows that the database does not take', () => {
    it('park their agent at the event that they come from, and stop no other agent', async () => {
      const { log } = tell([])
      const [one, other] = [bad(log), bad(log, 'other')]
      one.start()
      other.start()
      one.write('context_set', { key: 'before', value: 1 }, call)
      const planted = one.write('context_set', { key: LONG, value: 1 }, call)
      one.write('context_set', { key: 'after', value: 1 }, call)
      one.write('context_set', { key: LONG, value: 2 }, call)
      other.user('user_input', { text: 'read' })
      const { dump, projector } = await open(log)
      const found = await dump()
      const at = { stream: 'agent-bad', revision: 2, position: planted.position, type: 'context_set' }
      expect(found.parked).toMatchObject([{ ...at, code: 'ROWS_REFUSED' }])
      expect(found.parked![0]!.message).toMatch(
        / refuses rows of this event: .*; change the limit of the database, then release the stream$/,
      )
      expect(found.agents).toMatchObject([
        { id: 'bad', incomplete_from: 2 },
        { id: 'other', revision: 1 },
      ])
      const names = found.context_variables!.filter((row) => row.agent_id === 'bad' && row.revision !== 0)
      expect(names).toMatchObject([{ name: 'before' }])
      expect(found.inputs).toMatchObject([{ agent_id: 'other' }])
      expect(projector.status()).toMatchObject({ progress: { events: log.events.length } })
      expect(await projector.release('agent-bad')).toBe(false)
      expect(await dump()).toEqual(found)
      other.user('user_input', { text: 'read too' })
      await projector.catchUp()
      expect((await dump()).inputs).toHaveLength(2)
    })

    it('are read again on release, once the database takes them', async () => {
      const { log } = tell([])
      const one = bad(log)
      one.start()
      one.write('context_set', { key: LONG.slice(0, 100), value: 1 }, call)
      one.write('context_set', { key: LONG.slice(0, 101), value: 1 }, call)
      let refuses = true
      const short = (store: Store): Store => {
        const { commit, ...rest } = refusing(store)
        return {
          ...rest,
          commit: async (from, to, batch) => {
            const all = [...(batch.changes.byTable.get('context_variables')?.values() ?? [])]
            const long = all.flatMap((of) => [...of.rows.values()]).some(({ key }) => String(key.name).length > 100)
            if (refuses && long) throw rowsRefused('The test', new Error('too long'))
            await commit(from, to, batch)
          },
        }
      }
      const { dump, projector } = await open(log, short)
      expect((await dump()).parked).toMatchObject([{ revision: 2 }])
      refuses = false
      expect(await projector.release('agent-bad')).toBe(true)
      const { dump: whole } = await open(log, (store) => store)
      expect(await dump()).toEqual(await whole())
    })

    it('give the same tables under any batching, and after a release (law)', async () => {
      await fc.assert(
        fc.asyncProperty(
          tape,
          fc.array(fc.nat(3), { maxLength: 6 }),
          fc.integer({ min: 1, max: 40 }),
          async (numbers, plan, size) => {
            const { log } = tell(numbers)
            const actors = ['bad', 'worse'].map((id) => bad(log, id))
            for (const actor of actors) actor.start()
            for (const n of plan) actors[n % 2]!.write('context_set', { key: n > 1 ? LONG : 'k', value: n }, call)
            const whole = await open(log)
            log.pages = () => size
            const parts = await open(log)
            const dump = await whole.dump()
            expect(await parts.dump()).toEqual(dump)
            const parked = actors
              .filter((_, i) => plan.some((n) => n > 1 && n % 2 === i))
              .map(({ id }) => `agent-${id}`)
            expect(dump.parked!.map((row) => row.stream)).toEqual(parked)
            for (const stream of parked) expect(await parts.projector.release(stream)).toBe(false)
            expect(await parts.dump()).toEqual(dump)
          },
        ),
        runs(kit.cases(20)),
      )
    })
  })
}
