import type { Pool } from 'pg'
import { type Cursor, formatCursor, parseCursor } from '../../domain/log/cursor.ts'
import type { Position, Positions } from '../../domain/ports/index.ts'
import { prepareSchema } from './prepare.ts'
import { ask, askPatiently } from './query.ts'

export interface PostgresPositionsOptions {
  /** The caller opens and ends the pool. */
  readonly pool: Pool
  /** A separate schema, created if missing. */
  readonly schema: string
}

interface Row {
  readonly cursor: string | null
  readonly epoch: number
  readonly note: string | null
}

/** Positions in a table of PostgreSQL. Rejects with LogError. */
export class PostgresPositions implements Positions {
  readonly #pool: Pool
  readonly #table: string

  private constructor({ pool, schema }: PostgresPositionsOptions) {
    this.#pool = pool
    this.#table = `${schema}.positions`
  }

  static async open(options: PostgresPositionsOptions): Promise<PostgresPositions> {
    const { pool, schema } = options
    const create = `create table ${schema}.positions (
      name text collate "C" primary key, cursor text collate "C", epoch bigint not null, note text)`
    await askPatiently(`prepare ${schema}`, () => prepareSchema(pool, schema, 'positions', create))
    return new PostgresPositions(options)
  }

  async read(name: string): Promise<Position | null> {
    const text = `select cursor, epoch, note from ${this.#table} where name = $1`
    const [row] = (await ask<Row>(this.#pool, 'read a position', text, [name])).rows
    return row === undefined ? null : positionOf(row)
  }

  /** A repetition after a lost connection takes a further epoch, which does no harm. */
  async claim(name: string): Promise<Position> {
    const text = `insert into ${this.#table} as held (name, epoch) values ($1, 1)
      on conflict (name) do update set epoch = held.epoch + 1 returning cursor, epoch, note`
    return positionOf((await ask<Row>(this.#pool, 'take a position over', text, [name])).rows[0]!)
  }

  async write(name: string, { cursor, epoch, note }: Position, from?: Cursor | null): Promise<boolean> {
    const where = `name = $1 and epoch = $4${from === undefined ? '' : ' and cursor is not distinct from $5'}`
    const text = `update ${this.#table} set cursor = $2, note = $3 where ${where}`
    const stored = from === undefined ? [] : [from && formatCursor(from)]
    const values = [name, cursor && formatCursor(cursor), note, epoch, ...stored]
    return (await ask(this.#pool, 'write a position', text, values)).rowCount === 1
  }

  async list(prefix: string): Promise<ReadonlyMap<string, Position>> {
    const text = `select name, cursor, epoch, note from ${this.#table} where starts_with(name, $1) order by name`
    const { rows } = await ask<Row & { readonly name: string }>(this.#pool, 'list positions', text, [prefix])
    return new Map(rows.map((row) => [row.name, positionOf(row)]))
  }
}

const positionOf = ({ cursor, epoch, note }: Row): Position => ({
  cursor: cursor === null ? null : parseCursor(cursor),
  epoch: Number(epoch),
  note,
})
