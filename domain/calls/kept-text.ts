/** Size of one block of kept text, in bytes. Blocks keep many small pieces as compact as a few large ones. */
const BLOCK_BYTES = 64 * 1024

/** The maximum kept size of one result or output, in bytes, without the note about the missing part. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024

/** UTF-8 text that arrives in pieces of whole characters. Beyond a limit, only its head and tail are kept. */
export class KeptText {
  readonly #head: Blocks
  readonly #tail: Blocks
  #size = 0

  /** `limit`: in bytes. */
  constructor(limit = MAX_KEPT_BYTES) {
    this.#head = new Blocks(limit / 2)
    this.#tail = new Blocks(limit / 2)
  }

  /** Bytes received, kept or not. */
  get size(): number {
    return this.#size
  }

  add(text: string): void {
    const bytes = Buffer.from(text, 'utf8')
    this.#size += bytes.length
    this.#tail.addLast(bytes.subarray(this.#head.addFirst(bytes)))
  }

  /** The kept text in pieces. A character may be split between two pieces. */
  pieces(): readonly Uint8Array[] {
    return joined(this.#head.blocks(), this.#tail.blocks(), this.#size)
  }

  /** The kept text, truncated to about `bytes` bytes. */
  text(bytes: number): string {
    const pieces = joined(this.#head.blocks(), this.#tail.blocks(), this.#size)
    if (this.#size <= bytes) return Buffer.concat(pieces).toString('utf8')
    const first = Buffer.concat(enough(pieces, bytes / 2)).subarray(0, bytes / 2)
    const last = Buffer.concat(enough(pieces.toReversed(), bytes / 2).toReversed()).subarray(-bytes / 2)
    return Buffer.concat(joined([first], [last], this.#size)).toString('utf8')
  }
}

/** The shortest beginning of a list of pieces that has at least `bytes` bytes. */
function enough(pieces: readonly Buffer[], bytes: number): Buffer[] {
  let size = 0
  const last = pieces.findIndex((piece) => {
    size += piece.length
    return size >= bytes
  })
  return pieces.slice(0, last + 1)
}

/** Joins head and tail of a UTF-8 text of `size` bytes, with a note about a missing part. Splits no character. */
function joined(head: readonly Buffer[], tail: readonly Buffer[], size: number): Buffer[] {
  const kept = [...head, ...tail].reduce((sum, { length }) => sum + length, 0)
  if (kept === size) return [...head, ...tail]
  const first = [...head.slice(0, -1), wholeEnd(head.at(-1)!)]
  const last = [wholeStart(tail[0]!), ...tail.slice(1)]
  const left = [...first, ...last].reduce((sum, { length }) => sum - length, size)
  return [...first, Buffer.from(`\n[… ${left} of ${size} bytes left out …]\n`), ...last]
}

const isContinuation = (byte: number | undefined) => ((byte ?? 0) & 0xc0) === 0x80

/** UTF-8 without the rest of a character that was split at the start. */
export function wholeStart(bytes: Buffer): Buffer {
  let from = 0
  while (from < 3 && isContinuation(bytes[from])) from++
  return bytes.subarray(from)
}

/** UTF-8 without the beginning of a character that was split at the end. */
export function wholeEnd(bytes: Buffer): Buffer {
  let last = bytes.length - 1
  while (last > bytes.length - 4 && isContinuation(bytes[last])) last--
  const lead = bytes[last] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return last >= 0 && last + length > bytes.length ? bytes.subarray(0, last) : bytes
}

/** Bytes in blocks of equal size, at most `limit` bytes in total. */
class Blocks {
  readonly #limit: number
  readonly #full: Buffer[] = []
  #open = Buffer.alloc(0)
  #used = 0
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds as many bytes as there is room for and returns their number. */
  addFirst(bytes: Buffer): number {
    const taken = Math.min(bytes.length, this.#limit - this.#size)
    this.#add(bytes.subarray(0, taken))
    return taken
  }

  /** Adds all bytes and drops the oldest blocks. */
  addLast(bytes: Buffer): void {
    this.#add(bytes)
    while (this.#full.length > 0 && this.#size - this.#full[0]!.length >= this.#limit)
      this.#size -= this.#full.shift()!.length
  }

  blocks(): Buffer[] {
    const [first = Buffer.alloc(0), ...rest] = [...this.#full, this.#open.subarray(0, this.#used)]
    const tooMany = Math.max(0, this.#size - this.#limit)
    return [first.subarray(tooMany), ...rest].filter(({ length }) => length > 0)
  }

  #add(bytes: Buffer): void {
    this.#size += bytes.length
    for (let at = 0; at < bytes.length; ) {
      if (this.#used === this.#open.length) {
        if (this.#used > 0) this.#full.push(this.#open)
        this.#open = Buffer.allocUnsafeSlow(BLOCK_BYTES)
        this.#used = 0
      }
      const copied = bytes.copy(this.#open, this.#used, at)
      this.#used += copied
      at += copied
    }
  }
}
