import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Change, type FileId, type Names, type Recording, rename } from './recording.ts'

// What a loss of power can leave of a recorded folder. The model is a journalling file system such as ext4 or xfs: names
// (new files, removals, renames) become durable in order, and each sync makes all earlier ones durable. The content of a
// file is durable up to its own last sync; each later sector of 512 bytes may be there or not, in any combination.

const SECTOR = 512

/** How much of what is not durable reached the disk: all, nothing, or a random part. */
export type Reached = 'all' | 'none' | 'some'

export interface Image {
  /** Contents by absolute path; null: a folder. */
  readonly files: ReadonlyMap<string, Buffer | null>
  /** The lines that the program had printed. */
  readonly said: readonly string[]
  /** The number of changes before the crash. */
  readonly after: number
  readonly reached: Reached
}

type ContentChange = Change & { kind: 'write' | 'truncate' }
type NameChange = Change & { kind: 'link' | 'make-folder' | 'remove' | 'rename' }

const isContent = (change: Change): change is ContentChange => change.kind === 'write' || change.kind === 'truncate'
const isName = (change: Change): change is NameChange => !isContent(change) && !['said', 'sync'].includes(change.kind)

/** Applies changes to contents. Copies each changed content once, because images share those that do not change. */
function applyContents(contents: Map<FileId, Buffer>, changes: readonly ContentChange[]): void {
  const sizes = new Map<FileId, number>()
  for (const change of changes) {
    const end = change.kind === 'write' ? change.at + change.bytes.length : 0
    sizes.set(change.file, Math.max(sizes.get(change.file) ?? contents.get(change.file)?.length ?? 0, end))
  }
  const copies = new Map([...sizes].map(([file, size]) => [file, { bytes: Buffer.alloc(size), length: 0 }]))
  for (const [file, copy] of copies) copy.length = contents.get(file)?.copy(copy.bytes) ?? 0
  for (const change of changes) {
    const copy = copies.get(change.file)!
    if (change.kind === 'write') {
      change.bytes.copy(copy.bytes, change.at)
      copy.length = Math.max(copy.length, change.at + change.bytes.length)
    } else {
      copy.bytes.fill(0, Math.min(copy.length, change.size))
      copy.length = Math.min(change.size, copy.bytes.length)
    }
  }
  for (const [file, { bytes, length }] of copies) contents.set(file, bytes.subarray(0, length))
}

function applyName(names: Names, change: NameChange): void {
  if (change.kind === 'link') names.set(change.path, change.file)
  else if (change.kind === 'make-folder') names.set(change.path, null)
  else if (change.kind === 'rename') rename(names, change.from, change.to)
  else names.delete(change.path)
}

/** Every image of a recording: after each change, everything, nothing and `random` random parts of what is not durable. */
export function* imagesOf(
  { changes, before }: Pick<Recording, 'changes' | 'before'>,
  draw: (below: number) => number,
  random = 2,
): Generator<Image> {
  const durable = { names: new Map(before.names), contents: new Map(before.contents) }
  const pending: { names: NameChange[]; contents: ContentChange[] } = { names: [], contents: [] }
  const said: string[] = []
  const reaches: Reached[] = ['all', 'none', ...Array<Reached>(random).fill('some')]

  const image = (after: number, reached: Reached): Image => {
    const names = new Map(durable.names)
    const part = { all: pending.names.length, none: 0, some: draw(pending.names.length + 1) }[reached]
    for (const change of pending.names.slice(0, part)) applyName(names, change)
    const contents = new Map(durable.contents)
    if (reached === 'all') applyContents(contents, pending.contents)
    else if (reached === 'some')
      applyContents(
        contents,
        pending.contents.flatMap((change) => tear(change, draw)),
      )
    const files = [...names].map(
      ([path, file]) => [path, file === null ? null : (contents.get(file) ?? EMPTY)] as const,
    )
    return { files: new Map(files), said: [...said], after, reached }
  }

  for (const reached of reaches) yield image(0, reached)
  for (const [i, change] of changes.entries()) {
    if (change.kind === 'said') said.push(change.line)
    else if (change.kind === 'sync') settle(change)
    else if (isContent(change)) pending.contents.push(change)
    else if (isName(change)) pending.names.push(change)
    for (const reached of reaches) yield image(i + 1, reached)
  }

  /** Moves what a sync made durable from `pending` to `durable`. */
  function settle(sync: Change & { kind: 'sync' }): void {
    const isCovered = (change: Change) => change.ended < sync.begun
    const names = pending.names.findIndex((change) => !isCovered(change))
    for (const change of pending.names.splice(0, names < 0 ? pending.names.length : names))
      applyName(durable.names, change)
    const covered = pending.contents.filter((change) => change.file === sync.file && isCovered(change))
    applyContents(durable.contents, covered)
    pending.contents = pending.contents.filter((change) => !covered.includes(change))
  }
}

const EMPTY = Buffer.alloc(0)

/** The random part of a change that reached the disk. */
function tear(change: ContentChange, draw: (below: number) => number): ContentChange[] {
  if (change.kind === 'truncate') return draw(2) === 0 ? [change] : []
  const parts: ContentChange[] = []
  // Sectors of the disk, not of the write: a small write within a sector is all or nothing.
  for (let at = change.at; at < change.at + change.bytes.length; ) {
    const end = Math.min((Math.floor(at / SECTOR) + 1) * SECTOR, change.at + change.bytes.length)
    if (draw(2) === 0) parts.push({ ...change, at, bytes: change.bytes.subarray(at - change.at, end - change.at) })
    at = end
  }
  return parts
}

/** Identifies the content of an image and what was acknowledged before it. */
export function hashOf(image: Image, acknowledged: number, hashes: WeakMap<Buffer, string>): string {
  const hash = createHash('sha256').update(`${acknowledged}\n`)
  for (const [path, content] of [...image.files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    let of = content === null ? 'folder' : hashes.get(content)
    if (of === undefined) {
      of = createHash('sha256').update(content!).digest('hex')
      hashes.set(content!, of)
    }
    hash.update(`${path}\n${of}\n`)
  }
  return hash.digest('hex')
}

/** Writes an image of the folder `recorded` over a folder. */
export function writeImage(root: string, image: Pick<Image, 'files'>, recorded = root): void {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true, force: true })
  for (const [path, content] of image.files) {
    const target = join(root, relative(recorded, path))
    if (content === null) mkdirSync(target, { recursive: true, mode: 0o700 })
    else {
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
      writeFileSync(target, content, { mode: 0o600 })
    }
  }
}

/**
 * For each write, the files if the disk acknowledged this write and did not perform it: at the last printed line and at the
 * end of the program.
 */
export function* lostWritesOf({ changes, before }: Pick<Recording, 'changes' | 'before'>): Generator<Image> {
  const lastLine = changes.findLastIndex(({ kind }) => kind === 'said') + 1
  for (const after of new Set([lastLine, changes.length])) {
    const done = changes.slice(0, after)
    const said = done.flatMap((change) => (change.kind === 'said' ? [change.line] : []))
    const names = new Map(before.names)
    for (const change of done) if (isName(change)) applyName(names, change)
    for (const lost of done) {
      if (lost.kind !== 'write') continue
      const contents = new Map(before.contents)
      const performed = done.filter((change) => change !== lost)
      applyContents(contents, performed.filter(isContent))
      const files = [...names].map(
        ([path, file]) => [path, file === null ? null : (contents.get(file) ?? EMPTY)] as const,
      )
      yield { files: new Map(files), said, after: done.indexOf(lost), reached: 'all' }
    }
  }
}
