import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PostgresTreeStore } from '../../adapters/postgres/tree-store.ts'
import { SqliteTreeStore } from '../../adapters/sqlite/tree-store.ts'
import { Plan, treeStoreContract } from '../contracts/tree-store.ts'
import { describeWithSharedPostgres } from '../support/postgres/postgres.ts'
import { schemasOf } from '../support/projections/postgres-kit.ts'

describe('the tree in SQLite', () => {
  treeStoreContract({
    cases: 20,
    async fresh() {
      const folder = mkdtempSync(join(tmpdir(), 'keepup-tree-'))
      const path = join(folder, 'tree.db')
      const opened: SqliteTreeStore[] = []
      onTestFinished(() => {
        for (const store of opened) store.close()
        rmSync(folder, { recursive: true, force: true })
      })
      return {
        async open(hashes) {
          const store = new SqliteTreeStore(path, 'owner', hashes)
          opened.push(store)
          return store
        },
        async alter(sql) {
          const db = new DatabaseSync(path)
          try {
            db.exec(sql)
          } finally {
            db.close()
          }
        },
        move: 'update positions set position = 0 where leaf = 0',
      }
    },
  })
})

describeWithSharedPostgres('the tree in PostgreSQL', (server) => {
  const schemas = schemasOf(server)
  treeStoreContract({
    cases: 8,
    async fresh() {
      const [pool, schema] = [schemas.pool(), schemas.fresh()]
      return {
        open: () => PostgresTreeStore.open({ pool, schema }),
        alter: (sql) => pool.query(sql.replace(/heads|hashes|leaves/, (table) => `${schema}.${table}`)),
        move: 'update leaves set position = 0 where leaf = 0',
      }
    },
  })

  test.each([
    ['its edge is damaged', `update tree set edge = '\\x00'`],
    ['its cursor is damaged', `update tree set cursor = 'none'`],
    ['its size is another one', 'update tree set size = size - 1'],
    ['its row was removed', 'delete from tree'],
    ['its leaves stayed without it', 'update tree set size = 0, edge = null, cursor = null'],
    ['a leaf was removed', 'delete from leaves where leaf = 2'],
  ])('a damaged tree is named when it is loaded, and a cleared one grows again: %s', async (_, sql) => {
    const [pool, schema] = [schemas.pool(), schemas.fresh()]
    const store = await PostgresTreeStore.open({ pool, schema })
    const plan = new Plan()
    const growth = plan.growth({ count: 3, gap: 0, origin: 'a' })
    await store.grow(growth)
    await pool.query(sql.replace(/tree|leaves/, `${schema}.$&`))
    await expect(store.load()).rejects.toMatchObject({ code: 'MALFORMED' })
    await store.clear()
    expect(await store.load()).toBeNull()
    await store.grow({ ...growth, head: null })
    expect((await store.load())?.edge.size).toBe(3)
  })

  test('the heads of an older version, whose numbers have gaps, are numbered anew once; later gaps stay', async () => {
    const [pool, schema] = [schemas.pool(), schemas.fresh()]
    await PostgresTreeStore.open({ pool, schema })
    const head = (note: string, number?: number) =>
      pool.query(
        `insert into ${schema}.heads (${number === undefined ? '' : 'number,'} origin, size, note, at)
          overriding system value values (${number === undefined ? '' : `${number},`} 'a', $1, $2, 0)`,
        [note.charCodeAt(0), note],
      )
    await pool.query(`alter table ${schema}.heads alter number add generated always as identity`)
    for (const note of ['a', 'b', 'c']) {
      await head(note)
      await pool.query(`select nextval('${schema}.heads_number_seq')`)
    }
    // A newer version numbered these without the sequence, and one between them was removed.
    await head('d', 6)
    await head('e', 7)
    await head('g', 9)
    for (let start = 0; start < 2; start += 1) {
      const store = await PostgresTreeStore.open({ pool, schema })
      const heads = await store.heads(0, 9)
      expect(heads.map(({ number, note }) => `${number}${note}`)).toEqual(['1a', '2b', '3c', '4d', '5e', '7g'])
    }
    await expect(pool.query(`update ${schema}.heads set note = ''`)).rejects.toThrow('heads are final')
  })
})
