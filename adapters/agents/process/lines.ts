/** A longer line of a process is dropped (CONTRACTS 13). Bytes, without the line's end. */
export const MAX_LINE_BYTES = 1024 * 1024

/** One line of UTF-8 text without its end; null: it was too long and was dropped. */
export type Line = string | null

const LF = 0x0a
const CR = 0x0d

/** Parts bytes into lines. It holds at most one line, and of a line that is too long nothing. Blank lines are left out. */
export class LineSplitter {
  #pieces: Buffer[] = []
  #bytes = 0
  #dropping = false

  /** The lines that end in this chunk. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#add(chunk.subarray(start, end))
      this.#take(lines)
      start = end + 1
    }
    this.#add(chunk.subarray(start))
    return lines
  }

  /** The last line, where the process did not end it. */
  end(): Line[] {
    const lines: Line[] = []
    this.#take(lines)
    return lines
  }

  #add(bytes: Buffer): void {
    this.#bytes += bytes.length
    // One more for a carriage return, which is no part of the line.
    if (this.#bytes > MAX_LINE_BYTES + 1) {
      this.#dropping = true
      this.#pieces = []
    } else if (bytes.length > 0) this.#pieces.push(bytes)
  }

  #take(lines: Line[]): void {
    const line = this.#dropping ? null : this.#text()
    if (line !== '') lines.push(line)
    this.#pieces = []
    this.#bytes = 0
    this.#dropping = false
  }

  #text(): Line {
    const whole = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    const bytes = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    // A decoder without `fatal` puts U+FFFD in the place of what is no UTF-8.
    return bytes.length > MAX_LINE_BYTES ? null : bytes.toString('utf8')
  }
}
