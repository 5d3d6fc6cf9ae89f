import type pg from 'pg'
import { ProjectionError } from '../errors.ts'
import { keptMeaning, migrations } from '../schema/migrations.ts'
import type { Names } from './names.ts'
import { shapeFault } from './shape.ts'

interface Version {
  readonly meaning: number
  readonly version: number
}

export function mustNotBeNewer({ meaning, version }: Version, schema: string): void {
  if (meaning <= keptMeaning() && version <= migrations.length) return
  throw new ProjectionError(
    'SCHEMA_NEWER',
    `${schema} was written by a newer program; use that, or another schema: the tables come back from the log`,
  )
}

/** The version of a generation's rows; null: the generation does not exist. */
export async function versionOf(client: pg.PoolClient, { control }: Names, n: number): Promise<Version | null> {
  const text = `select meaning, version from ${control}.generations where n = $1`
  return (await client.query<Version>(text, [n])).rows[0] ?? null
}

/** A fault of a generation's tables, in words; null: none. */
export async function generationFault(client: pg.PoolClient, names: Names, n: number): Promise<string | null> {
  const schema = names.tables(n)
  const stored = await versionOf(client, names, n)
  if (stored === null || stored.meaning < keptMeaning()) return `the rows in ${schema} have an older meaning`
  if (stored.version < migrations.length) return null
  const damage = (await shapeFault(client, schema)) ?? (await positionLost(client, schema))
  return damage === null ? null : `${schema}.${damage}, which this program did not do`
}

/** Tables with rows but without their position. */
async function positionLost(client: pg.PoolClient, schema: string): Promise<string | null> {
  const text = `select where not exists (select from ${schema}.position) and exists (select from ${schema}.streams)`
  return (await client.query(text)).rowCount === 0 ? null : 'position has lost its row'
}
