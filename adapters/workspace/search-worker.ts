import { closeSync, constants as fsConstants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path/posix'
import { parentPort, workerData } from 'node:worker_threads'
import type { SearchMatch } from '../../domain/ports/index.ts'

// Runs in its own thread, so that a catastrophic pattern or glob, or very many files, block only this thread, which can be ended.

/** Paths are raw: one character a byte. */
export interface SearchWork {
  readonly folder: string
  /** Those at or beneath this one are searched; empty: all. */
  readonly under: string
  readonly paths: readonly string[]
  readonly glob?: string
  readonly source: string
  readonly flags: string
  readonly limit: number
}

/** Larger files are skipped, and the answer is marked as truncated. In bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024
const BINARY_PROBE_BYTES = 8_192
/** A longer line is shown as a window around its match. In characters. */
const MAX_LINE = 2_000

function search(work: SearchWork) {
  const pattern = new RegExp(work.source, work.flags)
  const realFolders = new Map<string, boolean>([['', true]])
  const matches: SearchMatch[] = []
  let truncated = false
  for (const raw of work.paths.filter((path) => isWanted(path, work)).sort()) {
    if (!inRealFolder(work.folder, raw, realFolders)) continue
    const bytes = readText(Buffer.concat([Buffer.from(`${work.folder}/`), Buffer.from(raw, 'latin1')]))
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

/** One at a time, numbered from 1: all lines of a large file together take many times its memory. */
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

function readText(path: Buffer): Buffer | 'no text' | 'too large' {
  let file: number
  try {
    if (!lstatSync(path).isFile()) return 'no text'
    file = openSync(path, fsConstants.O_RDONLY | fsConstants.O_NOFOLLOW | fsConstants.O_NONBLOCK)
  } catch {
    return 'no text'
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return 'no text'
    if (stat.size > MAX_FILE_BYTES) return 'too large'
    const bytes = readFileSync(file)
    return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0) ? 'no text' : bytes
  } finally {
    closeSync(file)
  }
}

/** Whether no folder of the path is a symbolic link. Git's index may still list files below a former folder. */
function inRealFolder(folder: string, raw: string, known: Map<string, boolean>): boolean {
  const parent = raw.slice(0, Math.max(0, raw.lastIndexOf('/')))
  const cached = known.get(parent)
  if (cached !== undefined) return cached
  const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(parent, 'latin1')])
  const real =
    inRealFolder(folder, parent, known) && (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
  known.set(parent, real)
  return real
}

parentPort?.postMessage(search(workerData as SearchWork))
