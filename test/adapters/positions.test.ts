import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PostgresPositions } from '../../adapters/postgres/positions.ts'
import { SqlitePositions } from '../../adapters/sqlite/positions.ts'
import { positionsContract } from '../contracts/positions.ts'
import { tempFolder } from '../support/folders.ts'
import { describeWithPostgres } from '../support/postgres/postgres.ts'
import { schemasOf } from '../support/projections/postgres-kit.ts'

describe('positions in SQLite', () => {
  positionsContract(async () => new SqlitePositions(join(tempFolder(), 'positions.db')))

  test('outlive their process; a file that is no database is replaced', async () => {
    const path = join(tempFolder(), 'positions.db')
    const before = new SqlitePositions(path)
    await before.claim('a')
    before.close()
    const after = new SqlitePositions(path)
    expect(await after.read('a')).toMatchObject({ epoch: 1 })
    after.close()
    writeFileSync(path, 'no database, but a text that is long enough to be looked at'.repeat(50))
    expect(await new SqlitePositions(path).claim('a')).toEqual({ cursor: null, epoch: 1, note: null })
  })
})

describeWithPostgres('positions in PostgreSQL', (server) => {
  const schemas = schemasOf(server)
  positionsContract(() => PostgresPositions.open({ pool: schemas.pool(), schema: schemas.fresh() }))
})
