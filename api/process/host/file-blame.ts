import type { FileVersion } from '../../../domain/agent/runtime/history/file-versions.ts'
import type { Versions } from '../../../domain/ports/index.ts'
import { blameApart } from '../../operations/files/diff/threaded-diff.ts'
import type { FileBlame } from '../../operations/files/schemas.ts'

/** Versions that are read: each takes a few processes. What is older counts as written before. */
const MOST = 200
/** Larger files are not looked into, bytes. */
const MAX_BYTES = 1024 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Which calls wrote the lines of a file, as it is in the last of some versions. At least one version is given. */
export async function fileBlame(
  stored: Pick<Versions, 'read'>,
  all: readonly FileVersion[],
  path: string,
): Promise<FileBlame> {
  const versions = all.slice(-MOST)
  const since = versions.length < all.length ? versions[0]!.step : 0
  const at = async ({ tree }: FileVersion) => stored.read(tree, path)
  const last = await at(versions.at(-1)!)
  const none = { path, parts: [], sources: [], since }
  if (last === null) return { ...none, content: 'none' }
  if (last.length > MAX_BYTES) return { ...none, content: 'too_large' }
  if (textOf(last) === null) return { ...none, content: 'binary' }
  const texts: (string | null)[] = []
  for (const version of versions) texts.push(textOf(await at(version)))
  const parts = await blameApart(texts)
  const used = [...new Set(parts.map(({ version }) => version))].sort((a, b) => a - b)
  // Of the first version that was looked at it is not known which call made it, but where it is the first of all.
  const known = used.filter((version) => version > 0 || since === 0)
  return {
    ...none,
    content: 'text',
    parts: parts.map(({ text, version }) => ({
      text,
      source: known.includes(version) ? known.indexOf(version) : null,
    })),
    sources: known.map((version) => ({ step: versions[version]!.step, calls: writersOf(versions[version]!, path) })),
  }
}

/** The calls that may have written a file, without those that say that they have written others only. */
const writersOf = ({ calls }: FileVersion, path: string) =>
  calls.filter(({ files }) => files?.includes(path) ?? true).map(({ files: _, ...call }) => call)

/** Null: no file, a larger one, or no text. */
function textOf(bytes: Uint8Array | null): string | null {
  if (bytes === null || bytes.length > MAX_BYTES) return null
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}
