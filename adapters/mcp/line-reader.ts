/** Splits a byte stream into lines of at most `maxBytes`. Buffers an unfinished line until its end arrives. */
export class LineReader {
  readonly #maxBytes: number
  #pieces: Buffer[] = []
  #size = 0
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Yields the lines that end in this piece, without their line ends. Throws LineTooLong. */
  *push(piece: Buffer): Generator<string> {
    let from = 0
    for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, from)) {
      this.#add(piece.subarray(from, end))
      const line = Buffer.concat(this.#pieces).toString('utf8')
      this.#pieces = []
      this.#size = 0
      from = end + 1
      yield line
    }
    this.#add(piece.subarray(from))
  }

  #add(part: Buffer): void {
    this.#size += part.length
    if (this.#size > this.#maxBytes) throw new LineTooLong(this.#maxBytes)
    if (part.length > 0) this.#pieces.push(part)
  }
}

export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
  constructor(maxBytes: number) {
    super(`it sent a message of more than ${maxBytes} bytes`)
  }
}
