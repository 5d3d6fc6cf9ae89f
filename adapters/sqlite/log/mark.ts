import { hash } from 'node:crypto'
import { closeSync, constants, fstatSync, fsync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../../files/folders.ts'

// The mark is a storage format: two records of 128 bytes, written in turn, so that a torn write leaves the older record
// intact. A record contains magic (8 bytes), sequence number (8), position (8), log id (16), the hash of the event at
// that position (32), zeros, and the first 16 bytes of the SHA-256 of everything before. Numbers are little-endian. A
// slot of zeros was never written.

const MAGIC = Buffer.from('kuMark1\n', 'latin1')
const SLOT = 128
const SUM_AT = SLOT - 16
const FILE_BYTES = 2 * SLOT

/** The longest time that a mark may remain without an fsync, in ms. */
const SYNC_WITHIN_MS = 1000

/** The content of a mark: the last event at an acknowledged append. */
export interface MarkRecord {
  readonly logId: string
  readonly position: number
  /** Lower-case hex. */
  readonly hash: string
}

interface Slot extends MarkRecord {
  readonly sequence: number
}

/**
 * `torn`: one of the two records is unreadable, so the mark may be one append too old. `foreign`: the file is not a
 * mark and is never overwritten.
 */
export type FoundMark =
  | { readonly state: 'missing' }
  | { readonly state: 'unreadable'; readonly why: string; readonly foreign: boolean }
  | ({ readonly state: 'read'; readonly torn: boolean } & Slot)

/** The path of the log's mark. */
export const markOf = (folder: string): string => join(folder, 'log.mark')

/** Reads the mark of the log in a folder. Never throws: a fault of the mark is part of the result. */
export function readMark(folder: string): FoundMark {
  const bytes = Buffer.alloc(FILE_BYTES)
  try {
    const file = openMark(folder, constants.O_RDONLY)
    try {
      const { size } = fstatSync(file)
      if (size !== FILE_BYTES) return { state: 'unreadable', why: sizeOf(size), foreign: false }
      readSync(file, bytes, 0, FILE_BYTES, 0)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof NoMark) return { state: 'unreadable', why: error.message, foreign: true }
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? { state: 'missing' } : { state: 'unreadable', why: message, foreign: false }
  }
  const slots = [0, 1].map((index) => slotIn(bytes.subarray(index * SLOT, (index + 1) * SLOT)))
  const whole = slots.filter((slot) => slot !== null && slot !== 'damaged')
  const latest = whole.reduce<Slot | null>((a, b) => (a === null || b.sequence > a.sequence ? b : a), null)
  if (latest === null) return { state: 'unreadable', why: 'neither of its two records is whole', foreign: false }
  return { state: 'read', torn: slots.includes('damaged'), ...latest }
}

/** The file at the mark's path is of another kind. */
class NoMark extends Error {}

const sizeOf = (bytes: number) => `it has ${bytes} bytes where ${FILE_BYTES} are expected`

/** Opens the mark. Refuses links, and refuses FIFOs, which would block. Throws NoMark, or the errors of openSync. */
function openMark(folder: string, flags: number): number {
  let file: number
  try {
    file = openSync(markOf(folder), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ELOOP') throw new NoMark('it is a symbolic link')
    if (code === 'EISDIR' || code === 'ENXIO') throw new NoMark('it is no regular file')
    throw error
  }
  const stat = fstatSync(file)
  const why = stat.isFile() ? (stat.size > FILE_BYTES ? sizeOf(stat.size) : null) : 'it is no regular file'
  if (why === null) return file
  closeSync(file)
  throw new NoMark(why)
}

/** The record in a slot. Null: never written. */
function slotIn(bytes: Buffer): Slot | 'damaged' | null {
  if (bytes.every((byte) => byte === 0)) return null
  const sum = Buffer.from(hash('sha256', bytes.subarray(0, SUM_AT)), 'hex').subarray(0, 16)
  if (!bytes.subarray(0, 8).equals(MAGIC) || !bytes.subarray(SUM_AT).equals(sum)) return 'damaged'
  return {
    sequence: Number(bytes.readBigUInt64LE(8)),
    position: Number(bytes.readBigUInt64LE(16)),
    logId: bytes.toString('latin1', 24, 40),
    hash: bytes.toString('hex', 40, 72),
  }
}

function slotOf({ sequence, position, logId, hash: at }: Slot): Buffer {
  const bytes = Buffer.alloc(SLOT)
  MAGIC.copy(bytes)
  bytes.writeBigUInt64LE(BigInt(sequence), 8)
  bytes.writeBigUInt64LE(BigInt(position), 16)
  bytes.write(logId, 24, 16, 'latin1')
  bytes.write(at, 40, 32, 'hex')
  Buffer.from(hash('sha256', bytes.subarray(0, SUM_AT)), 'hex').copy(bytes, SUM_AT, 0, 16)
  return bytes
}

/** Writes the mark: one small write per update, and an fsync within a second. Only the log's writer has one. */
export class MarkWriter {
  readonly #file: number
  readonly #logId: string
  readonly #fsync: typeof fsync
  #last: Slot
  /** The time of the first update without an fsync. Null: every update is synced. */
  #dirtySince: number | null = null
  #timer: NodeJS.Timeout | null = null
  #syncing = false
  #closed = false

  private constructor(file: number, last: Slot, sync: typeof fsync) {
    this.#file = file
    this.#logId = last.logId
    this.#last = last
    this.#fsync = sync
  }

  /**
   * Opens the mark for writing and creates it if necessary. Starts a damaged mark again. Throws if another kind of file
   * is at its path.
   */
  static open(folder: string, logId: string, sync = fsync): MarkWriter {
    const found = readMark(folder)
    const file = openMark(folder, constants.O_RDWR | constants.O_CREAT)
    try {
      if (found.state !== 'read') {
        writeSync(file, Buffer.alloc(FILE_BYTES), 0, FILE_BYTES, 0)
        fsyncSync(file)
        syncFolder(folder)
      }
      const sequence = found.state === 'read' ? found.sequence : 0
      return new MarkWriter(file, { logId, sequence, position: 0, hash: '' }, sync)
    } catch (error) {
      closeSync(file)
      throw error
    }
  }

  /** Call before appends up to this event are acknowledged. */
  update(position: number, at: string): void {
    this.#write({ sequence: this.#last.sequence + 1, position, logId: this.#logId, hash: at })
    this.#dirtySince ??= Date.now()
    this.#schedule()
  }

  close(): void {
    this.#closed = true
    this.#stopTimer()
    if (this.#dirtySince !== null || this.#syncing) fsyncSync(this.#file)
    // During an fsync the descriptor must remain open: its number could be reused for another file.
    if (!this.#syncing) closeSync(this.#file)
  }

  #write(slot: Slot): void {
    writeSync(this.#file, slotOf(slot), 0, SLOT, (slot.sequence % 2) * SLOT)
    this.#last = slot
  }

  #schedule(): void {
    if (this.#dirtySince === null || this.#syncing) return
    const left = this.#dirtySince + SYNC_WITHIN_MS - Date.now()
    // A timer never fires if appends never pause, so sync here.
    if (left <= 0) this.#sync()
    else this.#timer ??= setTimeout(() => this.#sync(), left).unref()
  }

  /** Syncs in the background, because the writer must wait only for its own commits. */
  #sync(): void {
    this.#stopTimer()
    this.#syncing = true
    this.#dirtySince = null
    this.#fsync(this.#file, (error) => {
      this.#syncing = false
      if (this.#closed) return closeSync(this.#file)
      if (error !== null) this.#failed()
      this.#schedule()
    })
  }

  /**
   * After a failed fsync the system may consider the pages written. Only bytes that are written again reach the disk.
   */
  #failed(): void {
    this.#dirtySince = Date.now()
    try {
      this.#write(this.#last)
    } catch {
      // The next update also fails and reports the error.
    }
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
