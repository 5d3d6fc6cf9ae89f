import type { Pool } from 'pg'
import { sqlState } from '../../domain/log/connection-lost.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { Leases } from '../../domain/ports/index.ts'
import { checkTtl } from '../memory/lease-ttl.ts'
import { prepareSchema } from './prepare.ts'
import { ask, askPatiently } from './query.ts'

export interface PostgresLeasesOptions {
  /** The caller opens and ends the pool. */
  readonly pool: Pool
  /** A separate schema (default `keepup_leases`), created if missing. */
  readonly schema?: string
  /** Receives a warning when a missing table was created again. */
  warn?(text: string): void
}

const isMissing = (error: unknown): boolean => error instanceof LogError && sqlState(error.cause) === '42P01'

/** Leases by the clock of PostgreSQL, so that the clocks of drivers may differ. Rejects with LogError. */
export class PostgresLeases implements Leases {
  readonly #pool: Pool
  readonly #schema: string
  readonly #table: string
  readonly #warn: (text: string) => void
  private constructor({ pool, schema = 'keepup_leases', warn = () => {} }: PostgresLeasesOptions) {
    this.#pool = pool
    this.#schema = schema
    this.#table = `${schema}.leases`
    this.#warn = warn
  }

  static async open(options: PostgresLeasesOptions): Promise<PostgresLeases> {
    const leases = new PostgresLeases(options)
    await leases.#make()
    return leases
  }

  /**
   * Takes or extends a lease. Creates the table again if it was dropped, because the log still names the driver of each
   * run.
   */
  async acquire(agentId: string, driverId: string, ttlMs: number): Promise<boolean> {
    checkTtl(ttlMs)
    try {
      return await this.#take(agentId, driverId, ttlMs)
    } catch (error) {
      if (!isMissing(error)) throw error
      await this.#make()
      this.#warn(`the table ${this.#table} was missing and was made again; former leases are lost`)
      return this.#take(agentId, driverId, ttlMs)
    }
  }

  async release(agentId: string, driverId: string): Promise<void> {
    const text = `delete from ${this.#table} where agent_id = $1 and driver_id = $2`
    await ask(this.#pool, `release the lease of ${agentId}`, text, [agentId, driverId])
  }

  async #make(): Promise<void> {
    const create = `create table ${this.#table} (
      agent_id text collate "C" primary key, driver_id text collate "C" not null, until timestamptz not null)`
    await askPatiently(`prepare ${this.#table}`, () => prepareSchema(this.#pool, this.#schema, 'leases', create))
  }

  async #take(agentId: string, driverId: string, ttlMs: number): Promise<boolean> {
    // A heartbeat need not be durable: the log is authoritative, so the loss of a heartbeat in a crash does no harm.
    const text = `with soon as materialized (select set_config('synchronous_commit', 'off', true))
      insert into ${this.#table} as held
        select $1, $2, clock_timestamp() + $3::double precision * interval '1 millisecond' from soon
      on conflict (agent_id) do update set driver_id = excluded.driver_id, until = excluded.until
        where held.driver_id = excluded.driver_id or held.until <= clock_timestamp()`
    const taken = await ask(this.#pool, `take the lease of ${agentId}`, text, [agentId, driverId, ttlMs])
    return taken.rowCount === 1
  }
}
