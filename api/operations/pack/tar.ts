// A tar file (POSIX ustar): a header of 512 bytes for each file, its bytes, and zeros up to the next multiple of 512.

const BLOCK = 512
const utf8 = new TextEncoder()

/** The header of a file. Throws for a name of more than 100 bytes. */
export function tarHeader(name: string, size: number, seconds: number): Uint8Array {
  const header = new Uint8Array(BLOCK)
  const put = (text: string, at: number) => header.set(utf8.encode(text), at)
  const octal = (n: number, digits: number) => n.toString(8).padStart(digits, '0')
  if (utf8.encode(name).length > 100) throw new RangeError(`the name ${name} is too long for a tar file`)
  put(name, 0)
  put(`${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100)
  // Sizes of 8 GiB and more do not fit in octal digits; GNU tar's binary form has 11 bytes after the mark 0x80.
  if (size < 8 ** 11) put(octal(size, 11), 124)
  else {
    header[124] = 0x80
    for (let at = 135, rest = size; rest > 0; at -= 1, rest = Math.floor(rest / 256)) header[at] = rest % 256
  }
  put(octal(seconds, 11), 136)
  put('        0', 148)
  put('ustar\x0000', 257)
  put(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    ),
    148,
  )
  header[154] = 0
  return header
}

/** The zeros after a file of this size. */
export const tarPadding = (size: number): Uint8Array => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK)

/** The end of a tar file. */
export const TAR_END = new Uint8Array(2 * BLOCK)

/** Bytes that come in pieces of any size. */
class Bytes {
  readonly #source: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()
  /** The bytes that were taken. */
  offset = 0
  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next bytes, at most `most`; null: the end. */
  async next(most: number): Promise<Uint8Array | null> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#source.next()
      if (done) return null
      this.#rest = value
    }
    const piece = this.#rest.subarray(0, most)
    this.#rest = this.#rest.subarray(piece.length)
    this.offset += piece.length
    return piece
  }
}

/** A file in a tar. Its bytes must be read before the next file. */
export interface TarFile {
  readonly name: string
  /** The place of its bytes in the tar. */
  readonly offset: number
  readonly size: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** The regular files of a tar, in order. Rejects with `NotATar`. */
export async function* tarFiles(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarFile> {
  const input = new Bytes(source)
  async function* take(size: number): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0; ) {
      const piece = await input.next(left)
      if (piece === null) throw new NotATar('it ends within a file; get the whole file again')
      left -= piece.length
      yield piece
    }
  }
  for (;;) {
    const header = Buffer.concat(await Array.fromAsync(take(BLOCK)))
    if (header.every((byte) => byte === 0)) return
    const text = (at: number, length: number) => header.toString('utf8', at, at + length).split('\0')[0]!
    const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
    if (Number.parseInt(text(148, 8), 8) !== sum) throw new NotATar('it is not a tar file; name a pack')
    const isBinary = header[124] === 0x80
    const size = isBinary ? Number(header.readBigUInt64BE(128)) : Number.parseInt(text(124, 12), 8)
    if (!Number.isSafeInteger(size)) throw new NotATar('a file in it has no size; get the file again')
    const kind = text(156, 1)
    const bytes = take(size)
    if (kind === '0' || kind === '')
      yield { name: text(0, 100).replace(/^(?:\.?\/)+/, ''), offset: input.offset, size, bytes }
    for await (const _ of bytes);
    for await (const _ of take(tarPadding(size).length));
  }
}

export class NotATar extends Error {
  override readonly name = 'NotATar'
}
