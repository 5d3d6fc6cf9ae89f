import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, onTestFinished } from 'vitest'
import { PostgresTreeStore } from '../../adapters/postgres/tree-store.ts'
import { SqliteTreeStore } from '../../adapters/sqlite/tree-store.ts'
import { treeStoreContract } from '../contracts/tree-store.ts'
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
        alter: (sql) => pool.query(sql.replace('heads', `${schema}.heads`)),
      }
    },
  })
})
