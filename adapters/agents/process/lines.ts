/** The longest line of a process; longer lines are dropped (CONTRACTS 13). In bytes, without the line end. */
export const MAX_LINE_BYTES = 1024 * 1024

/** One line of UTF-8 text without its end. Null: the line was too long and was dropped. */
export type OutputLine = string | null

const LF = 0x0a
const CR = 0x0d

/**
 * Splits bytes into lines. Keeps at most one line in memory, and nothing of a line that is too long. Leaves out blank
 * lines.
 */
export class LineSplitter {
  #pieces: Buffer[] = []
  #bytes = 0
  #dropping = false

  /** Returns the lines that end in this chunk. */
  push(chunk: Buffer): OutputLine[] {
    const lines: OutputLine[] = []
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#add(chunk.subarray(start, end))
      this.#take(lines)
      start = end + 1
    }
    this.#add(chunk.subarray(start))
    return lines
  }

  /** Returns the last line if the process did not end it. */
  end(): OutputLine[] {
    const lines: OutputLine[] = []
    this.#take(lines)
    return lines
  }

  #add(bytes: Buffer): void {
    this.#bytes += bytes.length
    // One byte more, for a carriage return that is not part of the line.
    if (this.#bytes > MAX_LINE_BYTES + 1) {
      this.#dropping = true
      this.#pieces = []
    } else if (bytes.length > 0) this.#pieces.push(bytes)
  }

  #take(lines: OutputLine[]): void {
    const line = this.#dropping ? null : this.#text()
    if (line !== '') lines.push(line)
    this.#pieces = []
    this.#bytes = 0
    this.#dropping = false
  }

  #text(): OutputLine {
    const whole = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    const bytes = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    // Decoding without `fatal` replaces invalid UTF-8 with U+FFFD.
    return bytes.length > MAX_LINE_BYTES ? null : bytes.toString('utf8')
  }
}
