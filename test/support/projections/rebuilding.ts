import { expect, onTestFinished } from 'vitest'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { Projections } from '../../../projections/projections.ts'
import type { PostgresServer } from '../postgres/postgres.ts'
import { folded } from './kit.ts'
import type { MemoryLog } from './memory-log.ts'
import { dumpSchema, postgresKit, schemasOf } from './postgres-kit.ts'

/** Numbers of a story of a few agents. */
export const numbers = Array.from({ length: 480 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000)
/** Matches the refusal with this code. */
export const code = (expected: string) => expect.objectContaining({ name: 'ProjectionError', code: expected })

/** Tables of a log in a separate schema, with helpers; closed when the test has finished. */
export function rebuilding(server: () => PostgresServer) {
  const schemas = schemasOf(server)
  const kit = postgresKit(server)
  const zero = (log: MemoryLog) => folded(log, kit)

  async function open(log: MemoryLog, schema = schemas.fresh(), { replaceNewer = false } = {}) {
    const pool = schemas.pool()
    const warned: string[] = []
    const home = new PostgresHome({ pool, schema, warn: (text) => void warned.push(text) })
    const projections = await Projections.open({ log, blobs: log.blobs, home, replaceNewer })
    let closed: Promise<void> | null = null
    const close = () => {
      closed ??= projections.close()
      return closed
    }
    onTestFinished(close)
    const live = async () => `${schema}_${await home.live()}`
    const there = async () => {
      const { rows } = await pool.query(`select nspname from pg_namespace where nspname ~ $1 order by 1`, [
        `^${schema}(_|$)`,
      ])
      return rows.map((row) => row.nspname)
    }
    const dump = async () => dumpSchema(pool, await live())
    return { pool, schema, warned, home, projections, live, there, dump, close }
  }
  return { schemas, zero, open }
}
