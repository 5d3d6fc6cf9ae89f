import { BLOBS, PackVerifier, type VerifiedPack } from '../../../domain/log/proof/pack-verifier.ts'
import { bodyHasher } from '../../../domain/log/seal.ts'
import { type TarFile, tarFiles } from './tar.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Verifies a pack while it is read. `policy`: trusted keys from elsewhere, in place of those of the pack. Rejects with
 * `NotATar`.
 */
export async function checkPack(
  source: AsyncIterable<Uint8Array>,
  policy: string | null = null,
): Promise<VerifiedPack> {
  const verifier = new PackVerifier()
  const files = new Set<string>()
  const texts = new Map<string, string>()
  for await (const { name, bytes } of tarFiles(source)) {
    if (files.has(name)) verifier.problem(name, 'the file is there twice')
    files.add(name)
    if (name === 'events.ndjson') for await (const line of linesOf(bytes)) verifier.event(line)
    else if (name === 'proofs.ndjson') for await (const line of linesOf(bytes)) verifier.proof(line)
    else if (name === 'checkpoint' || name === 'policy.txt') texts.set(name, await textOf(bytes))
    else if (name.startsWith(BLOBS)) {
      const hasher = bodyHasher()
      for await (const piece of bytes) hasher.update(piece)
      verifier.blob(name, hasher.hex())
    }
  }
  if (!files.has('events.ndjson')) verifier.problem('events.ndjson', 'the file is missing')
  const trusted = policy ?? texts.get('policy.txt') ?? null
  return verifier.result(texts.get('checkpoint') ?? null, trusted, !files.has('proofs.ndjson'))
}

/** A text that is not UTF-8 becomes one that no signature or policy has. */
async function textOf(bytes: TarFile['bytes']): Promise<string> {
  const whole = Buffer.concat(await Array.fromAsync(bytes))
  return decoded(whole)
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return '\0'
  }
}

/** The lines of a file with their newlines. The last one may lack it. */
async function* linesOf(bytes: TarFile['bytes']): AsyncGenerator<string> {
  let rest: Uint8Array[] = []
  for await (const piece of bytes) {
    let from = 0
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      yield decoded(Buffer.concat([...rest, piece.subarray(from, end + 1)]))
      rest = []
      from = end + 1
    }
    if (from < piece.length) rest.push(Uint8Array.from(piece.subarray(from)))
  }
  if (rest.length > 0) yield decoded(Buffer.concat(rest))
}
