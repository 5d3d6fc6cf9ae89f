import type { Pool } from 'pg'
import type { Leases } from '../../domain/ports.ts'
import { checkTtl } from '../leases/ttl.ts'
import { ask, patiently } from '../postgres/ask.ts'
import { prepareSchema } from '../postgres/prepare.ts'

export interface PostgresLeasesOptions {
  /** Opened and ended by the caller. */
  readonly pool: Pool
  /** A schema of their own (default `keepup_leases`), made where it is missing. */
  readonly schema?: string
}

/** Leases by the server's clock, so that the drivers' own may differ. Rejects with LogError where it does not answer. */
export class PostgresLeases implements Leases {
  readonly #pool: Pool
  readonly #table: string
  private constructor(pool: Pool, table: string) {
    this.#pool = pool
    this.#table = table
  }

  static async open({ pool, schema = 'keepup_leases' }: PostgresLeasesOptions): Promise<PostgresLeases> {
    const table = `${schema}.leases`
    const create = `create table ${table} (
      agent_id text collate "C" primary key, driver_id text collate "C" not null, until timestamptz not null)`
    await patiently(`prepare ${table}`, () => prepareSchema(pool, schema, 'leases', create))
    return new PostgresLeases(pool, table)
  }

  async acquire(agentId: string, driverId: string, ttlMs: number): Promise<boolean> {
    checkTtl(ttlMs)
    // A heartbeat that a crash of the server takes along is no loss, so nobody waits until it is durable.
    const text = `with soon as materialized (select set_config('synchronous_commit', 'off', true))
      insert into ${this.#table} as held
        select $1, $2, clock_timestamp() + $3::double precision * interval '1 millisecond' from soon
      on conflict (agent_id) do update set driver_id = excluded.driver_id, until = excluded.until
        where held.driver_id = excluded.driver_id or held.until <= clock_timestamp()`
    const taken = await ask(this.#pool, `take the lease of ${agentId}`, text, [agentId, driverId, ttlMs])
    return taken.rowCount === 1
  }

  async release(agentId: string, driverId: string): Promise<void> {
    const text = `delete from ${this.#table} where agent_id = $1 and driver_id = $2`
    await ask(this.#pool, `release the lease of ${agentId}`, text, [agentId, driverId])
  }
}
