import { BLOBS, PackVerifier, type VerifiedPack } from '../../../domain/log/proof/pack-verifier.ts'
import { bodyHasher } from '../../../domain/log/seal.ts'
import { type TarFile, tarFiles } from './tar.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Verifies a pack while it is read. `policy`: trusted keys from elsewhere, in place of those of the pack. `onFile`: is
 * called for each file before its bytes are read. Rejects with `NotATar`.
 */
export async function checkPack(
  source: AsyncIterable<Uint8Array>,
  policy: string | null = null,
  onFile: (file: Omit<TarFile, 'bytes'>) => void = () => {},
): Promise<VerifiedPack> {
  const verifier = new PackVerifier()
  const files = new Set<string>()
  const texts = new Map<string, string>()
  for await (const file of tarFiles(source)) {
    const { name, bytes } = file
    onFile(file)
    if (files.has(name)) verifier.problem(name, 'the file is there twice')
    files.add(name)
    verifier.file(name)
    if (name === 'events.ndjson')
      for await (const lines of linesOf(bytes)) for (const line of lines) verifier.event(line)
    else if (name === 'hashes.txt')
      for await (const lines of linesOf(bytes)) for (const line of lines) verifier.hash(line)
    else if (name === 'checkpoint' || name === 'policy.txt') texts.set(name, await textOf(bytes))
    else if (name.startsWith(BLOBS)) verifier.blob(name, await hashOf(bytes))
    else if (name === 'verify.py') verifier.program(await hashOf(bytes))
  }
  if (!files.has('events.ndjson')) verifier.problem('events.ndjson', 'the file is missing')
  const trusted = policy ?? texts.get('policy.txt') ?? null
  return verifier.result(texts.get('checkpoint') ?? null, trusted)
}

async function hashOf(bytes: TarFile['bytes']): Promise<string> {
  const hasher = bodyHasher()
  for await (const piece of bytes) hasher.update(piece)
  return hasher.hex()
}

/** The largest checkpoint or policy, and the longest line, in bytes. A hostile pack cannot fill the memory. */
const MAX_TEXT = 1024 * 1024
const MAX_LINE = 64 * 1024 * 1024

/** Stands for a text that is too long or not UTF-8. No format of a pack allows it. */
const UNREADABLE = '\0'

async function textOf(bytes: TarFile['bytes']): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size <= MAX_TEXT) pieces.push(Uint8Array.from(piece))
  }
  return size > MAX_TEXT ? UNREADABLE : decoded(Buffer.concat(pieces))
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return UNREADABLE
  }
}

/** The lines of a file with their newlines, as many at a time as arrive. The last one may lack its newline. */
async function* linesOf(bytes: TarFile['bytes']): AsyncGenerator<string[]> {
  let rest: Uint8Array[] = []
  let size = 0
  const add = (piece: Uint8Array) => {
    size += piece.length
    if (size <= MAX_LINE) rest.push(piece)
    else rest = []
  }
  const line = () => {
    const text = size > MAX_LINE ? UNREADABLE : decoded(rest.length === 1 ? rest[0]! : Buffer.concat(rest))
    rest = []
    size = 0
    return text
  }
  for await (const piece of bytes) {
    const lines: string[] = []
    let from = 0
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      add(piece.subarray(from, end + 1))
      lines.push(line())
      from = end + 1
    }
    yield lines
    if (from < piece.length) add(Uint8Array.from(piece.subarray(from)))
  }
  if (size > 0) yield [line()]
}
