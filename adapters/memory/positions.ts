import type { Cursor } from '../../domain/log/cursor.ts'
import type { Position, Positions } from '../../domain/ports/index.ts'

/** Positions of consumers in memory: a new process begins anew. */
export class MemoryPositions implements Positions {
  readonly #positions = new Map<string, Position>()

  async read(name: string): Promise<Position | null> {
    return this.#positions.get(name) ?? null
  }

  async claim(name: string): Promise<Position> {
    const { cursor, epoch, note } = this.#positions.get(name) ?? { cursor: null, epoch: 0, note: null }
    const claimed = { cursor, epoch: epoch + 1, note }
    this.#positions.set(name, claimed)
    return claimed
  }

  async write(name: string, { cursor, epoch, note }: Position, from?: Cursor | null): Promise<boolean> {
    const stored = this.#positions.get(name)
    if (stored?.epoch !== epoch || (from !== undefined && !isSame(stored.cursor, from))) return false
    this.#positions.set(name, { cursor, epoch, note })
    return true
  }

  async list(prefix: string): Promise<ReadonlyMap<string, Position>> {
    const found = [...this.#positions].filter(([name]) => name.startsWith(prefix))
    return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

const isSame = (a: Cursor | null, b: Cursor | null): boolean =>
  a === b || (a?.logId === b?.logId && a?.position === b?.position && a?.hash === b?.hash)
