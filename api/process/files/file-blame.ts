import type { FileVersion } from '../../../domain/agent/runtime/history/file-versions.ts'
import type { Versions } from '../../../domain/ports/index.ts'
import { blameApart } from '../../operations/files/diff/threaded-diff.ts'
import type { FileBlame } from '../../operations/files/schemas.ts'

/**
 * The most versions that are read, because each takes several processes. Content older than these counts as written
 * before.
 */
const MOST = 200
/** Larger files get no blame, in bytes. */
const MAX_BYTES = 1024 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The calls that wrote the lines of a file, in the last of the versions. Needs at least one version. */
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
  // The writer of the first version read is not known, unless it is the first of all.
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

/** The calls that may have written a file. Excludes calls that list only other files. */
const writersOf = ({ calls }: FileVersion, path: string) =>
  calls.filter(({ files }) => files?.includes(path) ?? true).map(({ files: _, ...call }) => call)

/** Null: no file, too large, or not text. */
function textOf(bytes: Uint8Array | null): string | null {
  if (bytes === null || bytes.length > MAX_BYTES) return null
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}
