import type { Cursor } from '../log/cursor.ts'

/** The place of a consumer of the log. */
export interface Position {
  /** The consumer has handled the events up to here. Null: it has not begun. */
  readonly cursor: Cursor | null
  /** Grows with each process that takes the position over. */
  readonly epoch: number
  /** What the consumer says about itself, for lists; null: nothing. */
  readonly note: string | null
}

/**
 * Named positions of consumers of the log. They are no facts: a consumer whose position is lost begins anew. Rejects
 * with LogError where the store fails.
 */
export interface Positions {
  /** Null: nobody has taken this position. */
  read(name: string): Promise<Position | null>
  /** Takes a position over with the next epoch, in one step: two processes never have the same epoch. */
  claim(name: string): Promise<Position>
  /**
   * False: a newer process has claimed the position, and nothing is written. `from`: also false if the stored cursor is
   * another one.
   */
  write(name: string, position: Position, from?: Cursor | null): Promise<boolean>
  /** The positions whose names begin with a prefix, in order of their names. */
  list(prefix: string): Promise<ReadonlyMap<string, Position>>
}
