import { closeSync, constants as fsConstants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path/posix'
import { parentPort, workerData } from 'node:worker_threads'
import type { SearchMatch } from '../../domain/ports/index.ts'
import { OpenFolders } from './open-folder.ts'
import { lastName, parentOf, rawBytes, rawSegments } from './worktree.ts'

// Runs in a separate thread. A catastrophic pattern or glob, or very many files, then block only this thread, which can
// be terminated.

/** A search. Paths are raw: one character per byte. */
export interface SearchWork {
  readonly folder: string
  /** Only paths at or below this one are searched. Empty: all. */
  readonly under: string
  readonly paths: readonly string[]
  readonly glob?: string
  readonly source: string
  readonly flags: string
  readonly limit: number
}

/** The largest searched file, in bytes. The answer is marked as truncated if a larger file is skipped. */
const MAX_FILE_BYTES = 16 * 1024 * 1024
const BINARY_PROBE_BYTES = 8_192
/** The longest line to return whole, in characters. A longer line is cut around its match. */
const MAX_LINE = 2_000

function search(work: SearchWork) {
  const pattern = new RegExp(work.source, work.flags)
  const folders = new OpenFolders(work.folder)
  const matches: SearchMatch[] = []
  let truncated = false
  for (const raw of work.paths.filter((path) => isWanted(path, work)).sort()) {
    const bytes = readText(folders, raw)
    if (bytes === 'too large') truncated = true
    if (typeof bytes === 'string') continue
    const path = Buffer.from(raw, 'latin1').toString('utf8')
    for (const [line, text] of linesOf(bytes.toString('utf8'))) {
      const match = pattern.exec(text)
      if (!match) continue
      if (matches.length === work.limit) return { matches, truncated: true }
      matches.push({ path, line, column: match.index, text: shown(text, match.index) })
    }
  }
  return { matches, truncated }
}

/** Yields lines one at a time, numbered from 1. All lines of a large file at once would take many times its memory. */
function* linesOf(text: string): Generator<[line: number, text: string]> {
  for (let [line, from] = [1, 0]; from <= text.length; line++) {
    const found = text.indexOf('\n', from)
    const end = found < 0 ? text.length : found
    yield [line, text.slice(from, end)]
    from = end + 1
  }
}

function isWanted(raw: string, { under, glob }: SearchWork): boolean {
  if (under !== '' && raw !== under && !raw.startsWith(`${under}/`)) return false
  return glob === undefined || globbed(Buffer.from(raw, 'latin1').toString('utf8').toWellFormed(), glob)
}

/** A glob without a slash matches file names, as people expect of `*.ts`. */
const globbed = (path: string, glob: string): boolean =>
  matchesGlob(glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1), glob)

function shown(line: string, at: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  const from = Math.max(0, at - MAX_LINE / 2)
  return (text.length <= MAX_LINE ? text : text.slice(from, from + MAX_LINE)).toWellFormed().replaceAll('\0', '\ufffd')
}

/** Follows no symbolic link: git's index may still list files below a former folder. */
function readText(folders: OpenFolders, raw: string): Buffer | 'no text' | 'too large' {
  let file: number | null = null
  try {
    const folder = folders.enter(rawSegments(parentOf(raw)))
    const path = folder.at(rawBytes(lastName(raw)))
    if (!lstatSync(path).isFile()) return 'no text'
    file = openSync(path, fsConstants.O_RDONLY | fsConstants.O_NOFOLLOW | fsConstants.O_NONBLOCK)
    const stat = fstatSync(file)
    if (!stat.isFile()) return 'no text'
    if (stat.size > MAX_FILE_BYTES) return 'too large'
    const bytes = readFileSync(file)
    folder.check()
    return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0) ? 'no text' : bytes
  } catch {
    return 'no text'
  } finally {
    if (file !== null) closeSync(file)
  }
}

parentPort?.postMessage(search(workerData as SearchWork))
