import { byteLength } from '../../../domain/calls/truncate.ts'
import { BOUNDS } from '../../../domain/external/bounds.ts'

// Bounds the memory of a mapping, regardless of the program's output.

/** Collects pieces of the possible final text. Collects no more when the text is longer than a final text may be. */
export class SaidText {
  readonly #between: string
  #pieces: string[] = []
  #bytes = 0

  constructor(between = '') {
    this.#between = between
  }

  /** Null: there is no text. */
  get text(): string | null {
    return this.#pieces.length === 0 ? null : this.#pieces.join(this.#between)
  }

  add(piece: string): void {
    if (this.#bytes <= BOUNDS.finalText) this.#pieces.push(piece)
    this.#bytes += byteLength(piece)
  }

  clear(): void {
    this.#pieces = []
    this.#bytes = 0
  }
}

const MAX_IDS = 10_000
const ID_CHARACTERS = 128

/** Ids that were seen. Beyond 10,000 ids the oldest are forgotten. */
export class SeenIds {
  readonly #ids = new Set<string>()

  /** True: the id is new. */
  add(id: string): boolean {
    const key = id.slice(0, ID_CHARACTERS)
    if (this.#ids.has(key)) return false
    if (this.#ids.size >= MAX_IDS) this.#ids.delete(this.#ids.values().next().value!)
    this.#ids.add(key)
    return true
  }
}
