import { describe, expect, it, onTestFinished } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { ContextStores } from '../../../domain/store/runtime/context-stores.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import {
  listContextStores,
  listStoredVariables,
  showContextStore,
  showStoredVariable,
} from '../../../projections/store/queries.ts'
import { MemoryBlobs, MemoryIntents } from '../../support/harness.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { projected, type TablesKit } from '../../support/projections/kit.ts'
import { MemoryLog as WrittenLog } from '../../support/projections/memory-log.ts'
import { standing } from '../../support/time/standing-clock.ts'

const ANN = { kind: 'user', id: 'ann' } as const

async function told(kit: TablesKit) {
  const log = new MemoryLog({ clock: BEFORE })
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn % 251) }
  const blobs = new MemoryBlobs()
  const ports = { log, random, blobs, clock: standing(Date.UTC(2026, 0, 18)), intents: new MemoryIntents() }
  const stores = new ContextStores({ ...ports, hide: async (value) => value })
  const inTables = async () => {
    const tables = await kit.fresh()
    const store = await tables.open()
    onTestFinished(() => store.close())
    const projector = new Projector({ log, blobs, store })
    await projector.catchUp()
    return { tables, projector, db: tables.db }
  }
  return { stores, inTables, notes: stores.open('notes', ANN) }
}

/** Stores of context variables in the tables: what is set, by whom, from which run, and where its value is. */
export function contextStoresContract(kit: TablesKit): void {
  describe('a store of context variables', () => {
    it('has a row for each variable, without its value', async () => {
      const { stores, notes, inTables } = await told(kit)
      await notes.set('b', { said: 'words of a person' })
      await notes.set('a', 'text')
      await notes.set('b', [1, 2], { runId: 'r1' })
      await notes.set('c', null)
      await notes.delete('c')
      await stores.open('audit', ANN).set('x', 1)
      const { db, tables } = await inTables()
      expect(await listStoredVariables(db, { store: 'notes', limit: 9 })).toMatchObject([
        { key: 'a', type: 'string', bytes: 4, revision: 1, set_by: 'user:ann', run_id: null, erased: 0 },
        { key: 'b', type: 'array', bytes: 5, revision: 2, run_id: 'r1', deleted_at: null },
      ])
      expect(await showStoredVariable(db, 'notes', 'c')).toMatchObject({ revision: 3, deleted_by: 'user:ann' })
      expect(await listContextStores(db, { limit: 9 })).toMatchObject([
        { store: 'audit', variables: 1, bytes: 1, revision: 0 },
        { store: 'notes', variables: 2, bytes: 9, revision: 4, created_by: 'user:ann' },
      ])
      expect(
        JSON.stringify(await tables.dump(), (name, value) => (name === 'event_rows' ? null : value)),
      ).not.toContain('words of')
    })

    it('is listed page by page, by the beginnings of keys, which are no patterns', async () => {
      const { notes, inTables } = await told(kit)
      for (const key of ['a%', 'a_b', 'axb', 'b', '𞤀x', '𞤀y']) await notes.set(key, 1)
      await notes.delete('axb')
      const { db } = await inTables()
      const keys = async (more: object) =>
        (await listStoredVariables(db, { store: 'notes', limit: 9, ...more })).map(({ key }) => key)
      expect(await keys({ limit: 2 })).toEqual(['a%', 'a_b'])
      expect(await keys({ after: 'a_b' })).toEqual(['b', '𞤀x', '𞤀y'])
      expect(await keys({ prefix: 'a' })).toEqual(['a%', 'a_b'])
      expect(await keys({ prefix: 'a', deleted: true })).toEqual(['a%', 'a_b', 'axb'])
      expect(await keys({ prefix: 'a_' })).toEqual(['a_b'])
      expect(await keys({ prefix: '𞤀' })).toEqual(['𞤀x', '𞤀y'])
      expect(await listContextStores(db, { after: 'notes', limit: 9 })).toEqual([])
      expect(await showContextStore(db, 'audit')).toBeUndefined()
    })

    it('shows what was erased, live and made anew', async () => {
      const { notes, stores, inTables } = await told(kit)
      await notes.set('a', 'first')
      await notes.set('b', 'other')
      await notes.set('a', 'second')
      const { db, projector, tables } = await inTables()
      await stores.erase('notes', 'a', { reason: 'private' }, { by: ANN })
      await projector.catchUp()
      const shown = (await listStoredVariables(db, { store: 'notes', limit: 9 })).map((row) => [row.key, row.erased])
      expect(shown).toEqual([
        ['a', 1],
        ['b', 0],
      ])
      await notes.set('a', 'third')
      await projector.catchUp()
      expect(await showStoredVariable(db, 'notes', 'a')).toMatchObject({ erased: 0, revision: 5 })
      const dump = await tables.dump()
      expect(dump.erasures!.map(({ revision, reason }) => [revision, reason])).toEqual([
        [0, 'private'],
        [2, 'private'],
      ])
      expect(dump).toEqual(await (await inTables()).tables.dump())
    })

    it('is marked where an event of it cannot be read', async () => {
      const log = new WrittenLog()
      const add = (body: object) =>
        log.add({ stream: 'context-notes', type: 'variable_set', body, runId: 'r1', at: log.events.length })
      add({ key: 'a', type: 'number', bytes: 1, value: 1 })
      add({ key: 'b', type: 'number', bytes: 1 })
      add({ key: 'c', type: 'number', bytes: 1, value: 1 })
      const tables = await kit.fresh()
      await projected(log, tables)
      expect(await showContextStore(tables.db, 'notes')).toMatchObject({ incomplete_from: 1, variables: 1 })
      expect((await tables.dump()).parked).toMatchObject([{ stream: 'context-notes', revision: 1, code: 'SHAPE' }])
    })
  })
}
